// SPDX-License-Identifier: Apache-2.0
// What comes from the instance is only ever set as text: clients and configuration have named much of it.

const POLL_MILLIS = 2000;
const TIMEOUT_MILLIS = 5000;
const SVG = "http://www.w3.org/2000/svg";

const byId = id => document.getElementById(id);

function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) {
        made.setAttribute(attribute, value);
    }
    made.append(...children);
    return made;
}

const inline = value => element("bdi", {}, value);
const isolated = value => element("bdi", {class: "bounded"}, value);

function setText(node, value) {
    if (node.textContent !== value) {
        node.textContent = value;
    }
}

const perSecond = value => value.toFixed(1);
const percent = value => `${(value * 100).toFixed(1)} %`;
const whole = value => value.toLocaleString("en");
const time = millis => new Date(millis).toLocaleTimeString("en-GB");
const moment = millis => new Date(millis).toLocaleString("en-GB");

function span(millis) {
    if (millis < 1000) {
        return `${millis} ms`;
    }
    const seconds = Math.ceil(millis / 1000);
    const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
    let rest = seconds;
    const said = [];
    for (const [size, unit] of parts) {
        if (rest >= size) {
            said.push(`${Math.floor(rest / size)} ${unit}`);
            rest %= size;
        }
    }
    return said.slice(0, 2).join(" ");
}

function sum(rates, ...outcomes) {
    return outcomes.reduce((all, outcome) => all + (rates.outcomes[outcome]?.perSecond ?? 0), 0);
}

const allPerSecond = rates => sum(rates, ...Object.keys(rates.outcomes));
const refusedPerSecond = rates => sum(rates, "rejected", "degraded_rejected");

// A line of what was decided and one of what was refused, second by second.
class History {
    constructor(label) {
        this.label = label;
        this.node = document.createElementNS(SVG, "svg");
        this.node.setAttribute("class", "history");
        this.node.setAttribute("viewBox", "0 0 59 20");
        this.node.setAttribute("preserveAspectRatio", "none");
        this.node.setAttribute("role", "img");
        this.lines = ["decided", "refused"].map(kind => {
            const line = document.createElementNS(SVG, "polyline");
            line.setAttribute("class", kind);
            this.node.append(line);
            return line;
        });
    }

    show(rates) {
        const top = Math.max(1, ...rates.decided);
        [rates.decided, rates.refused].forEach((values, kind) => this.lines[kind].setAttribute("points",
            values.map((value, second) => `${second},${(19 - 18 * value / top).toFixed(1)}`).join(" ")));
        const refused = Math.max(0, ...rates.refused);
        this.node.setAttribute("aria-label",
            `${this.label}: at most ${Math.max(0, ...rates.decided)} decisions and ${refused} refusals in a second of the last minute`);
    }
}

// ---- one policy

class PolicyRows {
    constructor(name) {
        this.name = name;
        this.id = `policy-${PolicyRows.made = (PolicyRows.made ?? 0) + 1}`;
        this.opener = element("button", {type: "button", class: "plain opener", "aria-expanded": "false", "aria-controls": this.id},
            isolated(name));
        this.opener.addEventListener("click", () => this.open(this.details.hidden));
        this.history = new History(name);
        this.cells = {};
        const row = element("tr", {role: "row"}, element("th", {scope: "row", role: "rowheader"}, this.opener),
            this.cell("mode", "Mode"), this.cell("limits", "Limits", "limits"), this.cell("key", "Key"),
            this.cell("decided", "Decisions/s", "number"), this.cell("refused", "Refused/s", "number"),
            this.cell("refusals", "Refusal rate", "number"), this.cell("used", "Used, mean / highest", "number"),
            this.cell("history", "Last minute"));
        this.cells.history.append(this.history.node);
        this.content = element("td", {colspan: "9", role: "cell"});
        this.details = element("tr", {id: this.id, class: "details", role: "row"}, this.content);
        this.details.hidden = true;
        this.node = element("tbody", {role: "rowgroup"}, row, this.details);
    }

    cell(name, label, style = "") {
        this.cells[name] = element("td", {role: "cell", "data-label": label, class: style});
        return this.cells[name];
    }

    open(wanted) {
        this.details.hidden = !wanted;
        this.opener.setAttribute("aria-expanded", String(wanted));
        this.showDetails();
    }

    show(policy) {
        this.policy = policy;
        const {cells} = this;
        if (cells.mode.textContent !== policy.mode) {
            cells.mode.replaceChildren(element("span", {class: `mode-${policy.mode}`}, policy.mode));
        }
        const limits = policy.limits.join(", ");
        if (cells.limits.textContent !== limits) {
            cells.limits.replaceChildren(isolated(limits));
        }
        if (cells.key.textContent !== policy.key) {
            cells.key.replaceChildren(isolated(policy.key));
        }
        const {rates} = policy;
        setText(cells.decided, perSecond(allPerSecond(rates)));
        setText(cells.refused, perSecond(refusedPerSecond(rates)));
        setText(cells.refusals, rates.refusalRate === null ? "–" : percent(rates.refusalRate));
        setText(cells.used, rates.utilization === null ? "–"
            : `${percent(rates.utilization.mean)} / ${percent(rates.utilization.highest)}`);
        this.history.show(rates);
        this.showDetails();
    }

    showDetails() {
        if (this.details.hidden) {
            return;
        }
        if (this.content.childElementCount === 0) {
            this.live = element("div", {class: "columns"});
            this.fixed = element("div");
            this.content.append(this.live, this.fixed);
        }
        const {rates, top} = this.policy;
        const shown = JSON.stringify([rates.outcomes, top]);
        if (this.shownLive !== shown && !inUse(this.live)) {
            this.shownLive = shown;
            keepingFocus(this.live, () => this.live.replaceChildren(outcomesBlock(rates),
                this.topBlock("Most refused", top.refused), this.topBlock("Most active", top.active)));
        }
        const settings = JSON.stringify({...this.policy, rates: null, top: null});
        if (this.shownFixed !== settings && !inUse(this.fixed)) {
            this.shownFixed = settings;
            keepingFocus(this.fixed, () => this.fixed.replaceChildren(...settingsBlocks(this.policy)));
        }
    }

    topBlock(title, entries) {
        const over = this.policy.top.overMillis;
        const block = element("div", {}, element("h3", {}, over > 0 ? `${title}, last ${span(over)}` : title));
        if (entries.length === 0) {
            block.append(element("p", {class: "note"}, "none"));
            return block;
        }
        const rows = entries.map(entry => keyRow(this.name, entry, title));
        block.append(table(["Key", "#Times", ""], rows));
        return block;
    }
}

function keyRow(policy, entry, list, ...cells) {
    const button = element("button", {type: "button", "data-focus": `${list} ${policy} ${entry.key}`}, "Look up");
    button.setAttribute("aria-label", `Look up ${entry.key} under ${policy}`);
    button.addEventListener("click", () => lookUpShown(policy, entry.key));
    const times = entry.atLeast === entry.atMost ? whole(entry.atLeast) : `${whole(entry.atLeast)}–${whole(entry.atMost)}`;
    return element("tr", {}, ...cells, element("td", {}, element("code", {}, isolated(entry.key))),
        element("td", {class: "number"}, times), element("td", {}, button));
}

function table(heads, rows) {
    const head = element("tr", {}, ...heads.map(name => name.startsWith("#")
        ? element("th", {scope: "col", class: "number"}, name.slice(1))
        : element(name === "" ? "td" : "th", name === "" ? {} : {scope: "col"}, name)));
    return element("div", {class: "wide"}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
}

let pressed = null;
document.addEventListener("pointerdown", event => {
    pressed = event.target;
});
["pointerup", "pointercancel"].forEach(end => document.addEventListener(end, () => setTimeout(() => {
    pressed = null;
})));

// Whoever presses a button of a list, or selects a key in it, must not lose that to new figures; those come with the next answer.
function inUse(parent) {
    const selection = document.getSelection();
    return (pressed !== null && parent.contains(pressed)) || (!selection.isCollapsed && parent.contains(selection.anchorNode));
}

function keepingFocus(parent, change) {
    const focused = parent.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
    change();
    if (focused !== undefined) {
        [...parent.querySelectorAll("[data-focus]")].find(node => node.dataset.focus === focused)?.focus();
    }
}

function outcomeRows(rates) {
    return Object.entries(rates.outcomes).map(([outcome, {perSecond: rate, lastMinute}]) => element("tr", {},
        element("th", {scope: "row"}, outcome.replaceAll("_", " ")),
        element("td", {class: "number"}, perSecond(rate)), element("td", {class: "number"}, whole(lastMinute))));
}

function outcomesBlock(rates) {
    const rows = outcomeRows(rates);
    return element("div", {}, element("h3", {}, "Outcomes"),
        rows.length === 0 ? element("p", {class: "note"}, "no decision in the last minute")
            : table(["Outcome", "#per second", "#last minute"], rows));
}

function settingsBlocks(policy) {
    const facts = [["Algorithm", policy.algorithm], ["Cost", whole(policy.cost)], ["On failure", policy.onFailure],
        ["Endpoints", policy.endpoints.join(", ")], ["Paths", policy.paths]].filter(([, value]) => value !== "");
    const blocks = [element("dl", {class: "facts"},
        ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, isolated(value)))))];
    const tiers = Object.entries(policy.tiers);
    if (tiers.length > 0) {
        blocks.push(element("h3", {}, "Tiers"), table(["Tier", "Limits"], tiers.map(([tier, limits]) =>
            element("tr", {}, element("th", {scope: "row"}, isolated(tier)), element("td", {}, isolated(limits.join(", ")))))));
    }
    blocks.push(element("h3", {}, "Values and where they come from"),
        table(["Property", "Value", "Source"], policy.settings.map(setting => element("tr", {},
            element("td", {}, element("code", {}, isolated(setting.property))),
            element("td", {}, isolated(setting.value)), element("td", {}, isolated(setting.source))))));
    return blocks;
}

// ---- the state

const totalHistory = new History("All policies");
const policies = new Map();
let lastAnswerAt = null;
let failingSince = null;
let timer = null;

function showStore(store) {
    setText(byId("backend"), store.backend);
    setText(byId("state"), store.state);
    byId("state").className = store.state === "up" ? "good" : store.state === "degraded" ? "bad" : "";
    setText(byId("breaker"), !store.breakerOpen ? "closed" : store.untilProbeMillis === 0 ? "open, next probe with the next call"
        : `open, next probe in ${span(store.untilProbeMillis)}`);
    byId("breaker").className = store.breakerOpen ? "bad" : "";
    setText(byId("degraded"), whole(store.degradedDecisions));
    setText(byId("failure"), store.lastFailure === null ? "none"
        : `${store.lastFailure}, ${span(store.lastFailureSecondsAgo * 1000)} ago`);
}

function showTotal(rates) {
    const shown = JSON.stringify(rates.outcomes);
    if (byId("outcomes").dataset.shown !== shown) {
        byId("outcomes").dataset.shown = shown;
        const rows = outcomeRows(rates);
        byId("outcomes").replaceChildren(...rows.length === 0
            ? [element("tr", {}, element("td", {colspan: "3", class: "note"}, "no decision in the last minute"))] : rows);
    }
    setText(byId("total-refusals"), rates.refusalRate === null ? "–" : percent(rates.refusalRate));
    totalHistory.show(rates);
}

const MOST_REFUSED = 10;

function showMostRefused(all) {
    const refused = all.flatMap(({name, top}) => top.refused.map(entry => ({policy: name, ...entry})))
        .sort((one, other) => other.atLeast - one.atLeast).slice(0, MOST_REFUSED);
    const list = byId("refused");
    const shown = JSON.stringify(refused);
    if (list.dataset.shown === shown || inUse(list)) {
        return;
    }
    list.dataset.shown = shown;
    keepingFocus(list, () => list.replaceChildren(refused.length === 0 ? element("p", {class: "note"}, "nobody")
        : table(["Policy", "Key", "#Times", ""], refused.map(entry => keyRow(entry.policy, entry, "Refused most",
            element("th", {scope: "row"}, isolated(entry.policy)))))));
}

function showPolicies(all) {
    const names = new Set(all.map(policy => policy.name));
    for (const [name, rows] of policies) {
        if (!names.has(name)) {
            rows.node.remove();
            policies.delete(name);
        }
    }
    let added = false;
    for (const policy of all) {
        let rows = policies.get(policy.name);
        if (rows === undefined) {
            rows = new PolicyRows(policy.name);
            policies.set(policy.name, rows);
            added = true;
        }
        rows.show(policy);
    }
    if (added) {
        byId("policies").append(...all.map(policy => policies.get(policy.name).node));
    }
    offerPolicies(all);
}

function showReading(reading) {
    const shown = JSON.stringify(reading);
    if (byId("reading").dataset.shown === shown) {
        return;
    }
    byId("reading").dataset.shown = shown;
    const said = {applied: "all of it holds", invalid: "some of it is wrong, and what held before still does",
        failed: "a source failed, and all is as before"};
    setText(byId("reading"), `Last reading ${moment(reading.at)}: ${said[reading.result] ?? reading.result}.`);
    byId("problems").replaceChildren(...reading.problems.map(problem => element("div", {class: "problem"},
        element("p", {}, element("strong", {}, problem.id), " ", element("code", {}, inline(problem.place)),
            ...problem.value === "" ? [] : [" = ", element("code", {}, inline(problem.value))]),
        element("p", {}, isolated(problem.problem)), element("p", {class: "note"}, isolated(problem.remedy)))));
}

function show(state) {
    setText(byId("host"), state.instance.host);
    setText(byId("started"), moment(state.instance.started));
    byId("started").dateTime = new Date(state.instance.started).toISOString();
    showStore(state.store);
    showTotal(state.rates);
    showMostRefused(state.policies);
    showPolicies(state.policies);
    showReading(state.reading);
}

// ---- talking to the instance

class Refusal extends Error {}

async function ask(path, options = {}) {
    const stop = new AbortController();
    const late = setTimeout(() => stop.abort(), TIMEOUT_MILLIS);
    try {
        const answer = await fetch(path, {...options, signal: stop.signal, redirect: "manual", cache: "no-store"});
        const json = (answer.headers.get("Content-Type") ?? "").startsWith("application/json") ? await answer.json() : null;
        if (answer.ok && json !== null) {
            return json;
        }
        if (answer.type === "opaqueredirect") {
            throw new Refusal("You are not logged in any more. Load the page again.");
        }
        throw new Refusal(json?.message ?? `The instance answered ${answer.status}. If you are not logged in any more, load the page again.`);
    } finally {
        clearTimeout(late);
    }
}

const post = (path, body) => ask(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});

function trouble(failure) {
    failingSince ??= Date.now();
    const why = failure instanceof Refusal ? failure.message : "This instance cannot be reached.";
    const old = lastAnswerAt === null ? "There are no figures yet." : `The figures are those of ${time(lastAnswerAt)}.`;
    byId("trouble").hidden = false;
    setText(byId("trouble"), `${why} Since ${time(failingSince)}. ${old}`);
    document.body.classList.add("stale");
    setText(byId("freshness"), "not up to date");
}

async function poll() {
    clearTimeout(timer);
    timer = null;
    try {
        const state = await ask("state");
        show(state);
        lastAnswerAt = Date.now();
        failingSince = null;
        byId("trouble").hidden = true;
        document.body.classList.remove("stale");
        setText(byId("freshness"), `as of ${time(state.instance.now)}`);
    } catch (failure) {
        trouble(failure);
    }
    if (!document.hidden) {
        clearTimeout(timer);
        timer = setTimeout(poll, POLL_MILLIS);
    }
}

document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) {
        setText(byId("freshness"), "paused");
    } else {
        poll();
    }
});

// ---- one caller

let known = [];

const offerOf = policy => JSON.stringify([policy.name, policy.keys, Object.keys(policy.tiers)]);

function offerPolicies(all) {
    const offer = all.map(offerOf).join();
    if (byId("policy").dataset.offer === offer) {
        return;
    }
    byId("policy").dataset.offer = offer;
    const chosen = byId("policy").value;
    const before = known.find(policy => policy.name === chosen);
    const now = all.find(policy => policy.name === chosen);
    known = all;
    byId("policy").replaceChildren(...all.map(policy => element("option", {value: policy.name}, shortened(policy.name))));
    if (now !== undefined) {
        byId("policy").value = chosen;
    }
    // What is being typed stays where it still fits.
    if (before === undefined || now === undefined || offerOf(before) !== offerOf(now)) {
        offerWays();
    }
}

const shortened = value => value.length > 60 ? `${value.slice(0, 60)}…` : value;

function offerWays() {
    const policy = known.find(one => one.name === byId("policy").value);
    if (policy === undefined) {
        return;
    }
    const ways = policy.keys.map((terms, index) => element("option", {value: String(index)}, shortened(terms.join(" + "))));
    ways.push(element("option", {value: "shown"}, "key as logs show it"), element("option", {value: "code"}, "key of code"));
    byId("way").replaceChildren(...ways);
    const tiers = Object.keys(policy.tiers);
    byId("tier-label").hidden = tiers.length === 0;
    byId("tier").replaceChildren(element("option", {value: ""}, "none"),
        ...tiers.map(tier => element("option", {value: tier}, shortened(tier))));
    offerParts();
}

function offerParts() {
    const policy = known.find(one => one.name === byId("policy").value);
    const way = byId("way").value;
    const terms = way === "shown" ? ["Key"] : way === "code" ? ["Text"] : policy.keys[Number(way)];
    byId("parts").replaceChildren(...terms.map(term => {
        const input = element("input", {type: "text", spellcheck: "false", autocapitalize: "off", autocomplete: "off"});
        if (term === "global") {
            input.value = "";
            return element("span", {class: "note"}, "shared by all", element("input", {type: "hidden", value: ""}));
        }
        input.required = true;
        return element("label", {}, shortened(term), input);
    }));
}

function caller() {
    const values = [...byId("parts").querySelectorAll("input")].map(input => input.value);
    const policy = byId("policy").value;
    const way = byId("way").value;
    return way === "shown" ? {policy, shown: values[0]} : way === "code" ? {policy, code: values[0]} : {policy, alternative: way, parts: values};
}

function lookUpShown(policy, key) {
    byId("policy").value = policy;
    offerWays();
    byId("way").value = "shown";
    offerParts();
    byId("parts").querySelector("input").value = key;
    byId("lookup-title").scrollIntoView();
    lookUp();
}

// What was asked last is shown, whichever answer comes last: keys are hashed, and nobody sees whose a late one is.
let asked = 0;

async function lookUp(who = caller(), tier = byId("tier").value, said = "") {
    const turn = ++asked;
    let result;
    try {
        result = resultBlock(await post("peek", tier === "" ? who : {...who, tier}), who, tier, said);
    } catch (failure) {
        const why = failure instanceof Refusal ? failure.message : "This instance cannot be reached.";
        result = problem(said === "" ? why : `${said} What it has left is not known. ${why}`);
    }
    if (turn === asked) {
        byId("result").replaceChildren(result);
    }
}

const problem = message => element("p", {class: "problem"}, message);

function resultBlock(found, who, tier, said) {
    const rows = found.quotas.map(quota => element("tr", {}, element("th", {scope: "row"}, isolated(quota.name)),
        element("td", {class: "number"}, whole(quota.remaining)), element("td", {class: "number"}, whole(quota.capacity)),
        element("td", {class: "number"}, `${whole(quota.permits)} per ${span(quota.windowMillis)}`),
        element("td", {class: "number"}, quota.resetAfterMillis === 0 ? "untouched" : span(quota.resetAfterMillis))));
    const block = element("div", {class: "result"},
        element("p", {}, "Key ", element("code", {}, inline(found.key)), " under the policy ", inline(found.policy)),
        rows.length === 0 ? element("p", {}, "No limit applies.")
            : table(["Limit", "#Left", "#Of", "#Permits", "#Reset after"], rows));
    if (said !== "") {
        block.prepend(element("p", {class: "good"}, said));
    }
    const reset = element("button", {type: "button"}, "Reset…");
    const actions = element("div", {class: "actions"}, reset);
    reset.addEventListener("click", () => confirmReset(block, actions, found, who, tier, reset));
    block.append(actions);
    return block;
}

function confirmReset(block, actions, found, who, tier, opener) {
    const sure = element("button", {type: "button", class: "danger"}, "Reset now");
    const not = element("button", {type: "button"}, "Cancel");
    const question = element("div", {class: "confirmation", role: "group", "aria-label": "Confirm the reset"},
        element("p", {}, "Reset this key under ", inline(found.policy), "? It can spend all of its permits again, on every instance. The reset is logged."),
        element("div", {class: "actions"}, sure, not));
    const close = () => {
        question.remove();
        actions.hidden = false;
        opener.focus();
    };
    not.addEventListener("click", close);
    question.addEventListener("keydown", event => event.key === "Escape" && close());
    sure.addEventListener("click", async () => {
        sure.disabled = true;
        try {
            await post("reset", who);
            await lookUp(who, tier, "It was reset.");
            byId("result").querySelector("button")?.focus();
        } catch (failure) {
            byId("result").replaceChildren(
                problem(failure instanceof Refusal ? failure.message : "This instance cannot be reached; whether it was reset is not known."));
        }
    });
    actions.hidden = true;
    block.append(question);
    sure.focus();
}

byId("total-history").append(totalHistory.node);
byId("policy").addEventListener("change", offerWays);
byId("way").addEventListener("change", offerParts);
byId("lookup").addEventListener("submit", event => {
    event.preventDefault();
    lookUp();
});
poll();
