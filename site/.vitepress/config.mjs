// SPDX-License-Identifier: Apache-2.0
import { cpSync, existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'

const root = fileURLToPath(new URL('../../', import.meta.url))
const module = name => fileURLToPath(import.meta.resolve(name))
const read = file => readFileSync(path.join(root, file), 'utf8')
const folderPage = link => link.replace(/(^|\/)README\.md(?=#|$)/, '$1index.md')

/** Returns a group for each table of the table of contents. */
function contents() {
    return read('docs/README.md').split(/^## /m).slice(1).map(section => ({
        text: section.match(/.*/)[0],
        collapsed: true,
        items: [...section.matchAll(/^\| \[(.*?)\]\((.*?)\.md\) \|/gm)].map(([, text, link]) => ({ text, link: `/docs/${link}` }))
    })).filter(group => group.items.length)
}

/** Returns a group of the pages beside the README. */
function project() {
    const pages = readdirSync(root).filter(file => file.endsWith('.md') && file !== 'README.md')
    return { text: 'Project', collapsed: true, items: pages.map(file => ({ text: read(file).match(/^# (.*)/)[1], link: `/${file.slice(0, -3)}` })) }
}

/** Returns the anchor of a heading, as GitHub does. */
const slugify = heading => heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '').replaceAll(' ', '-')

/** Files that are no page and that a page links to. */
const files = new Set()

function links(md) {
    md.core.ruler.push('links', ({ env, tokens }) => {
        for (const token of tokens.flatMap(block => block.children ?? []).filter(it => it.type === 'link_open')) {
            const link = folderPage(token.attrGet('href'))
            token.attrSet('href', link)
            if (/^[a-z]+:|^#|\.md(#|$)/.test(link)) continue
            const file = path.relative(root, path.resolve(path.dirname(env.path), link))
            if (!existsSync(path.join(root, file))) throw new Error(`${env.relativePath} links to ${link}, which does not exist`)
            files.add(file)
            token.attrSet('target', '_blank')
        }
    })
}

/** Omits the words of a question that say nothing about its subject, and the plural. Adds the word of the headings for one of users. */
function processTerm(term) {
    const word = term.toLowerCase().replace(/([^s])s$/, '$1')
    if (/^(all|an?|and|are|at|be|being|can|doe?|for|from|get|have|how|i|if|in|it|many|much|my|need|not|of|on|or|the|there|to|we|what|when|where|which|who|why|with|you|your)$/.test(word)) return null
    const headings = {
        block: /^(abuse|abusive|ban|blacklist)$/,
        code: /^programmatic$/,
        exempt: /^(allowlist|exclude|whitelist)$/,
        model: /^(llm|openai)$/,
        once: /^(bulkhead|concurrent|parallel)$/,
        outage: /^(away|crash|crashe|down|timeout|unavailable)$/,
        shadow: /^(audit|dry)$/,
        tier: /^(gold|paid|premium|vip)$/,
        troubleshooting: /^working$/
    }
    return [word, ...Object.keys(headings).filter(heading => headings[heading].test(word))]
}

/** A heading says more than a text, and a word as it is more than a similar one. */
const boost = { title: 8, titles: 3, text: 1 }
const weights = { prefix: 0.3, fuzzy: 0.2 }

/** Finds words with one error in five letters, but no other numbers, and no other short words. */
function fuzzy(word) {
    return /\d/.test(word) || word.length < 5 ? false : 0.2
}

/** Completes the last word only, which the reader may still write. */
function prefix(word, index, words) {
    return index === words.length - 1
}

/**
 * Prefers how-to pages, the beginning of a page, and pages that answer a question to the long records. The search runs these functions without
 * the rest of this file.
 */
function boostDocument(section, word, { titles }) {
    const records = /\/(CHANGELOG|CONTRIBUTING|RELEASING|decisions|measurements|field-cases)\.html/
    const boost = records.test(section) ? 0.2 : /\/how-to\//.test(section) ? 1.5 : 1
    return titles.length ? boost : 1.5 * boost
}

export default defineConfig({
    title: 'Weir',
    srcDir: '..',
    srcExclude: ['!(docs)/**/*'],
    rewrites: page => folderPage(page),
    ignoreDeadLinks: 'localhostLinks',
    head: [['link', { rel: 'icon', href: 'data:,' }]],
    markdown: { anchor: { slugify }, languageAlias: { promql: 'sql' }, config: links },
    themeConfig: {
        nav: [{ text: 'Documentation', link: '/docs/' }],
        sidebar: [...contents(), project()],
        outline: [2, 3],
        search: { provider: 'local', options: { miniSearch: { options: { processTerm }, searchOptions: { boost, boostDocument, fuzzy, prefix, weights } } } }
    },
    // The pages are outside this folder, so no search from them finds these packages.
    vite: {
        build: { chunkSizeWarningLimit: 2000 },
        resolve: {
            alias: [
                { find: /^vue$/, replacement: module('vue/dist/vue.runtime.esm-bundler.js') },
                { find: /^vue\/server-renderer$/, replacement: module('@vue/server-renderer/dist/server-renderer.esm-bundler.js') }
            ]
        }
    },
    buildEnd: ({ outDir }) => files.forEach(file => cpSync(path.join(root, file), path.join(outDir, file), { recursive: true }))
})
