// SPDX-License-Identifier: Apache-2.0
// Data of the instance is only inserted as text, because clients and configuration control much of it.

import {API, RequestError, UNREACHABLE, byId, count, dateTime, duration, element, inUse, inline, isolated, keepingFocus, percent, perSecond, post, problem,
    request, setText, table, time} from "./common.js";
import {changeActions, changesOf, hasChanges, mayChange, policyActions, problemBlocks, refreshChanges, sourceOf, undoBlock} from "./changes.js";

const POLL_MILLIS = 2000;

// After a change, instances report it within about a second.
const POLL_MILLIS_AFTER_CHANGE = 1000;
const POLLS_AFTER_CHANGE = 3;
const HISTORY_MILLIS = 10_000;
const SVG = "http://www.w3.org/2000/svg";

// ---- charts

const CHART_HEIGHT = 180;
const LEFT = 52;
const RIGHT = 8;
const TOP = 10;
const BOTTOM = 40;

function shape(name, attributes, ...children) {
    const created = document.createElementNS(SVG, name);
    for (const [attribute, value] of Object.entries(attributes)) {
        created.setAttribute(attribute, value);
    }
    created.append(...children);
    return created;
}

// Returns a round number of at least a value: 1, 2 or 5 times a power of ten.
function roundedUp(value) {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map(factor => factor * power).find(candidate => candidate >= value * .999999);
}

const axisNumber = value => value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : String(Number(value.toPrecision(3)));

// The decisions and rejections per second of the last hour, over the time of day.
class Chart {
    constructor(label) {
        this.label = label;
        this.node = element("figure", {class: "chart"});
        this.svg = shape("svg", {role: "img", height: String(CHART_HEIGHT), "aria-label": label});
        this.problem = element("p", {class: "problem", role: "status", hidden: ""});
        this.caption = element("figcaption", {class: "legend"}, element("span", {class: "key-decided"}, "decided"), " ",
            element("span", {class: "key-rejected"}, "rejected"), ", per second, in steps of 10 seconds");
        this.node.append(this.svg, this.caption, this.problem);
        new ResizeObserver(() => this.draw()).observe(this.node);
    }

    show(history) {
        this.history = history;
        this.showProblem("");
        this.draw();
    }

    // Without a history, the counts of the last one stay: zeros would mean that nobody has called.
    showProblem(reason) {
        this.problem.hidden = reason === "";
        setText(this.problem, reason);
        this.node.classList.toggle("stale", reason !== "");
    }

    draw() {
        const width = Math.floor(this.node.clientWidth);
        if (this.history === undefined || width === 0) {
            return;
        }
        const {start, stepMillis, decided, rejected} = this.history;
        const perStep = stepMillis / 1000;
        const most = Math.max(...decided) / perStep;
        const top = most === 0 ? 1 : roundedUp(most);
        const inner = width - LEFT - RIGHT;
        const x = step => LEFT + inner * step / decided.length;
        const y = value => TOP + (CHART_HEIGHT - TOP - BOTTOM) * (1 - value / top);
        const parts = [];
        for (const part of [0, .5, 1]) {
            parts.push(shape("line", {class: "grid", x1: LEFT, x2: width - RIGHT, y1: y(top * part), y2: y(top * part)}),
                shape("text", {x: LEFT - 6, y: y(top * part) + 4, "text-anchor": "end"}, axisNumber(top * part)));
        }
        const minutes = width < 420 ? 20 : 10;
        const end = start + stepMillis * decided.length;
        for (let at = Math.ceil(start / 60_000 / minutes) * minutes * 60_000; at <= end; at += minutes * 60_000) {
            const place = LEFT + inner * (at - start) / (end - start);
            parts.push(shape("line", {class: "grid", x1: place, x2: place, y1: TOP, y2: CHART_HEIGHT - BOTTOM}),
                shape("text", {x: Math.min(place, width - RIGHT - 16), y: CHART_HEIGHT - BOTTOM + 16, "text-anchor": "middle"},
                    new Date(at).toLocaleTimeString("en-GB", {hour: "2-digit", minute: "2-digit"})));
        }
        parts.push(shape("text", {class: "unit", x: LEFT + inner / 2, y: CHART_HEIGHT - 6, "text-anchor": "middle"}, "time of day"),
            shape("text", {class: "unit", x: -(CHART_HEIGHT - BOTTOM) / 2, y: 11, transform: "rotate(-90)", "text-anchor": "middle"}, "calls per second"));
        [[decided, "decided"], [rejected, "rejected"]].forEach(([counts, kind]) => parts.push(shape("polyline", {class: kind,
            points: counts.map((value, step) => `${x(step + .5).toFixed(1)},${y(value / perStep).toFixed(1)}`).join(" ")})));
        this.svg.setAttribute("width", String(width));
        this.svg.setAttribute("viewBox", `0 0 ${width} ${CHART_HEIGHT}`);
        this.svg.setAttribute("aria-label",
            `${this.label}: at most ${axisNumber(most)} decisions and ${axisNumber(Math.max(...rejected) / perStep)} rejections per second in the last hour`);
        this.svg.replaceChildren(...parts);
    }
}

// ---- rows with details

// A table with one row per entry. Its button shows and hides the details.
class Rows {
    constructor(table, heads, columns, details) {
        this.table = byId(table);
        this.columns = columns;
        this.details = details;
        this.rows = new Map();
        byId(heads).replaceChildren(...columns.map(({label, style}) =>
            element("th", {scope: "col", role: "columnheader", class: style ?? ""}, label)));
    }

    show(entries, idOf) {
        const ids = new Set(entries.map(idOf));
        for (const [id, row] of this.rows) {
            if (!ids.has(id)) {
                row.node.remove();
                this.rows.delete(id);
            }
        }
        let added = false;
        for (const entry of entries) {
            let row = this.rows.get(idOf(entry));
            if (row === undefined) {
                row = new Row(this, this.columns, this.details);
                this.rows.set(idOf(entry), row);
                added = true;
            }
            row.show(entry);
        }
        if (added) {
            this.table.append(...entries.map(entry => this.rows.get(idOf(entry)).node));
        }
    }
}

class Row {
    constructor(table, columns, details) {
        this.columns = columns;
        this.id = `row-${Row.created = (Row.created ?? 0) + 1}`;
        this.opener = element("button", {type: "button", class: "plain opener", "aria-expanded": "false", "aria-controls": this.id});
        this.opener.addEventListener("click", () => this.open(this.row.hidden));
        this.cells = columns.map(({label, style}, index) => index === 0
            ? element("th", {scope: "row", role: "rowheader"}, this.opener)
            : element("td", {role: "cell", "data-label": label, class: style ?? ""}));
        this.content = element("td", {colspan: String(columns.length), role: "cell"});
        this.row = element("tr", {id: this.id, class: "details", role: "row"}, this.content);
        this.row.hidden = true;
        this.details = new details(this.content);
        this.main = element("tr", {role: "row"}, ...this.cells);
        this.node = element("tbody", {role: "rowgroup"}, this.main, this.row);
    }

    open(expanded) {
        this.row.hidden = !expanded;
        this.opener.setAttribute("aria-expanded", String(expanded));
        this.showDetails();
    }

    show(entry) {
        this.entry = entry;
        this.columns.forEach(({value, mark}, index) => {
            const text = value(entry);
            const target = index === 0 ? this.opener : this.cells[index];
            const kind = mark === undefined ? "" : mark(entry);
            if (target.dataset.shown !== text || target.dataset.kind !== kind) {
                target.dataset.shown = text;
                target.dataset.kind = kind;
                target.replaceChildren(kind === "" ? isolated(text) : element("span", {class: kind}, text));
            }
        });
        this.showDetails();
    }

    showDetails() {
        if (!this.row.hidden) {
            this.details.show(this.entry);
        }
    }
}

// ---- instances

const ago = seconds => seconds === 0 ? "now" : `${duration(seconds * 1000)} ago`;

const breaker = ({breakerOpen, probeAfterMillis}) => !breakerOpen ? "closed"
    : probeAfterMillis === 0 ? "open, the next call is the probe" : `open, next probe in ${duration(probeAfterMillis)}`;

// A further figure of an instance is one more column.
const INSTANCE_COLUMNS = [
    {label: "Instance", value: ({name, self}) => self ? `${name} (this instance)` : name},
    {label: "Last report", value: ({vanished, unknown, secondsSinceReport}) => `${vanished ? "vanished, " : unknown ? "unknown, " : ""}${ago(secondsSinceReport)}`,
        mark: ({vanished}) => vanished ? "alarm" : ""},
    {label: "Backend", value: ({backend}) => `${backend.name}, ${backend.state}`,
        mark: ({backend}) => backend.state === "up" ? "good" : backend.state === "degraded" ? "bad" : ""},
    {label: "Breaker", value: ({backend}) => breaker(backend), mark: ({backend}) => backend.breakerOpen ? "bad" : ""},
    {label: "Leases", style: "number", value: ({backend}) => count(backend.leases)},
    {label: "Degraded decisions", style: "number", value: ({backend}) => count(backend.degradedDecisions)},
    {label: "Decisions/s", style: "number", value: ({decidedPerSecond}) => perSecond(decidedPerSecond)},
    {label: "Rejected/s", style: "number", value: ({rejectedPerSecond}) => perSecond(rejectedPerSecond)},
    {label: "Running calls", style: "number", value: ({runningCalls}) => count(runningCalls)},
    {label: "Configuration", value: ({configuration, drifted}) => `${configuration.slice(0, 8)}${drifted ? ", differs" : ""}`,
        mark: ({drifted}) => drifted ? "alarm" : ""},
    {label: "Weir", value: ({version}) => version},
];

class InstanceDetails {
    constructor(parent) {
        this.parent = parent;
    }

    show(instance) {
        const {backend} = instance;
        const facts = [["Server", instance.server], ["Java", instance.java], ["Started", dateTime(instance.started)],
            ["Last report", dateTime(instance.lastReport)],
            ["Last error", backend.lastFailure === null ? "none" : `${backend.lastFailure}, ${duration(backend.lastFailureSecondsAgo * 1000)} ago`],
            ["Policies", count(instance.policies)], ["Last reload", `${instance.lastReloadResult}, ${dateTime(instance.lastReload)}`],
            ["Invalid values", count(instance.configurationProblems)], ["Host", instance.host], ["Id", instance.id],
            ...Object.entries(instance.running).map(([policy, calls]) => [`Running calls, ${policy}`, count(calls)])];
        const shown = JSON.stringify(facts);
        if (this.shown !== shown && !inUse(this.parent)) {
            this.shown = shown;
            this.parent.replaceChildren(element("dl", {class: "facts"},
                ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, isolated(value))))));
        }
    }
}

// ---- policies

const modeOf = ({mode, enforcePercent}) => mode === "shadow" && enforcePercent > 0 ? `shadow, ${count(enforcePercent)} % enforced` : mode;

const POLICY_COLUMNS = [
    {label: "Policy", value: ({name}) => name},
    {label: "Mode", value: modeOf, mark: ({mode}) => `mode-${mode}`},
    {label: "Limits", style: "limits", value: ({limits}) => limits.join(", "),
        mark: ({name}) => changesOf(name).length > 0 ? "changed" : ""},
    {label: "Key", value: ({key}) => key},
    {label: "Decisions/s", style: "number", value: ({rates}) => perSecond(rates.decidedPerSecond)},
    {label: "Rejected/s", style: "number", value: ({rates}) => perSecond(rates.rejectedPerSecond)},
    {label: "Rejected share", style: "number", value: ({rates}) => rates.rejectedShare === null ? "–" : percent(rates.rejectedShare)},
    {label: "Used, mean / maximum", style: "number", value: ({rates}) => rates.utilization === null ? "–"
        : `${percent(rates.utilization.mean)} / ${percent(rates.utilization.max)}`},
    {label: "Running calls", style: "number", value: ({runningCalls}) => runningCalls === null ? "–" : count(runningCalls)},
    {label: "Instances", value: ({drifted}) => drifted ? "differ" : "agree", mark: ({drifted}) => drifted ? "alarm" : ""},
];

class PolicyDetails {
    constructor(parent) {
        this.parent = parent;
    }

    show(policy) {
        if (this.parent.childElementCount === 0) {
            this.live = element("div", {class: "columns"});
            this.fixed = element("div");
            this.chart = new Chart(policy.name);
            this.actions = element("div", {class: "actions"});
            this.parent.append(this.actions, element("h3", {}, "Last hour"), this.chart.node, this.live, this.fixed);
        }
        if (this.readAt === undefined || Date.now() - this.readAt >= HISTORY_MILLIS) {
            this.readAt = Date.now();
            showHistory(this.chart, policy.name);
        }
        const mine = entries => entries.filter(entry => entry.policy === policy.name);
        const top = {rejected: mine(callers.rejected), active: mine(callers.active), nearLimit: mine(callers.nearLimit)};
        const shown = JSON.stringify([policy.rates.outcomes, top, mayChange()]);
        if (this.shownLive !== shown && !inUse(this.live)) {
            this.shownLive = shown;
            keepingFocus(this.live, () => this.live.replaceChildren(outcomesBlock(policy.rates),
                topBlock("Most rejected", top.rejected), topBlock("Most active", top.active), nearBlock(top.nearLimit)));
        }
        const settings = JSON.stringify({...policy, rates: null, runningCalls: null, changes: changesOf(policy.name), mayChange: mayChange()});
        if (this.shownFixed !== settings && !inUse(this.fixed)) {
            this.shownFixed = settings;
            keepingFocus(this.fixed, () => this.fixed.replaceChildren(...settingsBlocks(policy)));
            keepingFocus(this.actions, () => this.actions.replaceChildren(...policyActions(policy)));
        }
    }
}

function topBlock(title, entries) {
    const period = callers.periodMillis;
    return keysBlock(period > 0 ? `${title}, last ${duration(period)}` : title, ["#Count", "#Highest use", "#Instances"],
        entries.map(entry => keyRow(entry.policy, entry.key, title, [bounds(entry), percent(entry.utilization), count(entry.instances)])));
}

const near = ({durationMillis}) => durationMillis < 60_000 ? "under 1 min" : duration(durationMillis);

function nearBlock(entries) {
    const title = "Near the limit";
    return keysBlock(title, ["#For", "#Instances"],
        entries.map(entry => keyRow(entry.policy, entry.key, title, [near(entry), count(entry.instances)])));
}

function keysBlock(title, heads, rows) {
    return element("div", {}, element("h3", {}, title),
        rows.length === 0 ? element("p", {class: "note"}, "none") : table(["Key", ...heads, ""], rows));
}

const bounds = ({minCount, maxCount}) => minCount === maxCount ? count(minCount) : `${count(minCount)}–${count(maxCount)}`;

function keyRow(policy, key, list, numbers, ...cells) {
    const button = element("button", {type: "button", "data-focus": `${list} ${policy} ${key}`}, "Look up");
    button.setAttribute("aria-label", `Look up ${key} under ${policy}`);
    button.addEventListener("click", () => lookUpHashedKey(policy, key));
    return element("tr", {}, ...cells, element("td", {}, element("code", {}, isolated(key))),
        ...numbers.map(number => element("td", {class: "number"}, number)),
        element("td", {}, element("div", {class: "row-actions"}, button,
            ...hasChanges() ? changeActions({policy, hashedKey: key}, key, list) : [blockButton(policy, key, list)])));
}

function outcomeRows(rates) {
    return Object.entries(rates.outcomes).map(([outcome, {perSecond: rate, lastMinute}]) => element("tr", {},
        element("th", {scope: "row"}, outcome.replaceAll("_", " ")),
        element("td", {class: "number"}, perSecond(rate)), element("td", {class: "number"}, count(lastMinute))));
}

function outcomesBlock(rates) {
    const rows = outcomeRows(rates);
    return element("div", {}, element("h3", {}, "Outcomes"),
        rows.length === 0 ? element("p", {class: "note"}, "no decisions in the last minute")
            : table(["Outcome", "#per second", "#last minute"], rows));
}

function settingsBlocks(policy) {
    const facts = [["Algorithm", policy.algorithm], ["Cost", count(policy.cost)], ["On failure", policy.onFailure],
        ["Endpoints", policy.endpoints.join(", ")], ["Paths", policy.paths]].filter(([, value]) => value !== "");
    const blocks = [element("dl", {class: "facts"},
        ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, isolated(value)))))];
    const tiers = Object.entries(policy.tiers);
    if (tiers.length > 0) {
        blocks.push(element("h3", {}, "Tiers"), table(["Tier", "Limits"], tiers.map(([tier, limits]) =>
            element("tr", {}, element("th", {scope: "row"}, isolated(tier)), element("td", {}, isolated(limits.join(", ")))))));
    }
    blocks.push(element("h3", {}, "Values and sources"),
        table(["Property", "Value", "Source"], policy.settings.map(setting => element("tr", {},
            element("td", {}, element("code", {}, isolated(setting.property))),
            element("td", {}, isolated(setting.value)), element("td", {}, sourceOf(policy.name, setting.source))))));
    return blocks;
}

// Shows the policies whose name, key or path contains the text of the field.
function filterPolicies() {
    const wanted = byId("policy-filter").value.trim().toLowerCase();
    for (const {node, entry} of policies.rows.values()) {
        node.hidden = ![entry.name, entry.key, entry.paths].some(text => text.toLowerCase().includes(wanted));
    }
}

byId("policy-filter").addEventListener("input", filterPolicies);

// ---- the fleet

const totalHistory = new Chart("All policies");
const instances = new Rows("instances", "instance-heads", INSTANCE_COLUMNS, InstanceDetails);
const policies = new Rows("policies", "policy-heads", POLICY_COLUMNS, PolicyDetails);
let callers = {rejected: [], active: [], nearLimit: [], blocked: [], blockedComplete: true, periodMillis: 0};
let lastResponseAt = null;
let failingSince = null;
let historyReadAt = null;
let timer = null;
let soon = 0;

function showFact(id, text, bad) {
    setText(byId(id), text);
    byId(id).className = bad ? "bad" : "";
}

function showFleet(fleet) {
    const {rates} = fleet;
    const alone = fleet.scope === "instance";
    const self = fleet.instances.find(instance => instance.self);
    setText(byId("scope"), alone
        ? `The figures are those of this instance only (${self.name}): its backend is not shared, so it knows no other instance.`
        : `The figures are those of all instances that report to the shared backend. Instance ${self.name} has returned this page. During an outage, it uses ${count(fleet.numberOfInstances)} as the number of instances.`);
    showFact("reporting", count(fleet.reporting), false);
    showFact("vanished", fleet.problem === null ? count(fleet.vanished) : "unknown", fleet.vanished > 0);
    showFact("drifted", count(fleet.drifted), fleet.drifted > 0);
    showFact("degraded", count(fleet.degraded), fleet.degraded > 0);
    showFact("running", count(fleet.runningCalls), false);
    showFact("decided", perSecond(rates.decidedPerSecond), false);
    showFact("rejected-rate", perSecond(rates.rejectedPerSecond), false);
    showFact("rejected-share", rates.rejectedShare === null ? "–" : percent(rates.rejectedShare), false);
    const problems = [];
    if (fleet.problem !== null) {
        problems.push(`The reports of other instances cannot be read (${fleet.problem}). Those shown are the last known ones.`);
    }
    if (fleet.unreadableReports > 0) {
        problems.push(`${count(fleet.unreadableReports)} values in the store are no reports of this version and are ignored.`);
    }
    byId("store-problem").hidden = problems.length === 0;
    setText(byId("store-problem"), problems.join(" "));
    byId("dashboards").hidden = fleet.grafana === null;
    if (fleet.grafana !== null) {
        byId("grafana").setAttribute("href", fleet.grafana);
    }
    const shown = JSON.stringify(rates.outcomes);
    if (byId("outcomes").dataset.shown !== shown) {
        byId("outcomes").dataset.shown = shown;
        const rows = outcomeRows(rates);
        byId("outcomes").replaceChildren(...rows.length === 0
            ? [element("tr", {}, element("td", {colspan: "3", class: "note"}, "no decisions in the last minute"))] : rows);
    }
    instances.show(fleet.instances, ({id}) => id);
    showDifferences(fleet);
    showReload(fleet.reload);
}

const sourced = (value, source) => source === "" ? value : `${value} (${source})`;

function showDifferences({differences, differenceCount, drifted}) {
    byId("differences-section").hidden = drifted === 0;
    const shown = JSON.stringify([differences, differenceCount]);
    if (byId("differences").dataset.shown === shown || inUse(byId("differences"))) {
        return;
    }
    byId("differences").dataset.shown = shown;
    const blocks = [differences.length === 0
        ? element("p", {class: "note"}, "The reports do not contain the values that differ. Compare the files of the instances.")
        : table(["Instance", "Policy", "Attribute", "Value (source)", "Most instances"], differences.map(one => element("tr", {},
            element("th", {scope: "row"}, isolated(one.name)), element("td", {}, isolated(one.policy)), element("td", {}, isolated(one.attribute)),
            element("td", {}, isolated(sourced(one.value, one.source))), element("td", {}, isolated(sourced(one.expected, one.expectedSource))))))];
    if (differenceCount > differences.length) {
        blocks.push(element("p", {class: "note"}, `${count(differenceCount - differences.length)} more differences are not shown.`));
    }
    byId("differences").replaceChildren(...blocks);
}

const MAX_TOP_KEYS = 10;

function showCallers() {
    showKeys("rejected", ["#Count", "#Instances"], callers.rejected, "Most rejected", entry => [bounds(entry), count(entry.instances)]);
    showKeys("near", ["#For", "#Instances"], callers.nearLimit, "Near the limit", entry => [near(entry), count(entry.instances)]);
}

function showKeys(id, heads, entries, title, numbers) {
    const list = byId(id);
    const first = entries.slice(0, MAX_TOP_KEYS);
    const shown = JSON.stringify([first, mayChange()]);
    if (list.dataset.shown === shown || inUse(list)) {
        return;
    }
    list.dataset.shown = shown;
    keepingFocus(list, () => list.replaceChildren(first.length === 0 ? element("p", {class: "note"}, "none")
        : table(["Policy", "Key", ...heads, ""], first.map(entry => keyRow(entry.policy, entry.key, title,
            numbers(entry), element("th", {scope: "row"}, isolated(entry.policy)))))));
}

function showReload(reload) {
    const shown = JSON.stringify(reload);
    if (byId("reload").dataset.shown === shown) {
        return;
    }
    byId("reload").dataset.shown = shown;
    const results = {applied: "all values apply", invalid: "some values are invalid, and the previous ones still apply",
        failed: "a source failed, and all previous values still apply"};
    setText(byId("reload"), `Last reload ${dateTime(reload.at)}: ${results[reload.result] ?? reload.result}.`);
    byId("problems").replaceChildren(...problemBlocks(reload.problems));
}

// ---- the latest figures

function showError(failure) {
    failingSince ??= Date.now();
    const reason = failure instanceof RequestError ? failure.message : UNREACHABLE;
    const age = lastResponseAt === null ? "There are no figures yet." : `The figures are those of ${time(lastResponseAt)}.`;
    byId("error").hidden = false;
    setText(byId("error"), `${reason} Since ${time(failingSince)}. ${age}`);
    document.body.classList.add("stale");
    setText(byId("freshness"), "outdated");
}

// A history that is not available leaves the chart as it is. The next one comes soon.
async function showHistory(chart, policy) {
    try {
        const history = await request(policy === undefined ? `${API}history` : `${API}history?policy=${encodeURIComponent(policy)}`);
        if (history.problem === null) {
            chart.show(history);
        } else {
            chart.showProblem(`The history is not available (${history.problem}).`);
        }
    } catch (failure) {
        chart.showProblem(failure instanceof RequestError ? failure.message : UNREACHABLE);
    }
}

async function poll() {
    clearTimeout(timer);
    timer = null;
    try {
        const [fleet, {policies: all}, listed] = await Promise.all(["instances", "policies", "callers"].map(name => request(API + name)));
        await refreshChanges(fleet.changes, () => {
            soon = POLLS_AFTER_CHANGE;
            poll();
        });
        callers = listed;
        showFleet(fleet);
        showCallers();
        policies.show(all, ({name}) => name);
        filterPolicies();
        showBlocked();
        offerPolicies(all);
        lastResponseAt = Date.now();
        failingSince = null;
        byId("error").hidden = true;
        document.body.classList.remove("stale");
        setText(byId("freshness"), `as of ${time(fleet.now)}`);
        if (historyReadAt === null || Date.now() - historyReadAt >= HISTORY_MILLIS) {
            historyReadAt = Date.now();
            showHistory(totalHistory);
        }
    } catch (failure) {
        showError(failure);
    }
    if (!document.hidden) {
        clearTimeout(timer);
        timer = setTimeout(poll, soon > 0 ? POLL_MILLIS_AFTER_CHANGE : POLL_MILLIS);
        soon = Math.max(0, soon - 1);
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

let lookupPolicies = [];

const offerOf = policy => JSON.stringify([policy.name, policy.keys, Object.keys(policy.tiers)]);

function offerPolicies(all) {
    const offer = all.map(offerOf).join();
    if (byId("policy").dataset.offer === offer) {
        return;
    }
    byId("policy").dataset.offer = offer;
    const chosen = byId("policy").value;
    const before = lookupPolicies.find(policy => policy.name === chosen);
    const now = all.find(policy => policy.name === chosen);
    lookupPolicies = all;
    byId("policy").replaceChildren(...all.map(policy => element("option", {value: policy.name}, shortened(policy.name))));
    if (now !== undefined) {
        byId("policy").value = chosen;
    }
    // Keep the input if it still fits the policy.
    if (before === undefined || now === undefined || offerOf(before) !== offerOf(now)) {
        offerIdentifiers();
    }
}

const shortened = value => value.length > 60 ? `${value.slice(0, 60)}…` : value;

function offerIdentifiers() {
    const policy = lookupPolicies.find(one => one.name === byId("policy").value);
    if (policy === undefined) {
        return;
    }
    const identifiers = policy.keys.map((terms, index) => element("option", {value: String(index)}, shortened(terms.join(" + "))));
    identifiers.push(element("option", {value: "hashedKey"}, "hashed key of logs"), element("option", {value: "text"}, "text of Identity.of"));
    byId("identifier").replaceChildren(...identifiers);
    const tiers = Object.keys(policy.tiers);
    byId("tier-label").hidden = tiers.length === 0;
    byId("tier").replaceChildren(element("option", {value: ""}, "none"),
        ...tiers.map(tier => element("option", {value: tier}, shortened(tier))));
    offerValues();
}

function offerValues() {
    const policy = lookupPolicies.find(one => one.name === byId("policy").value);
    const identifier = byId("identifier").value;
    const terms = identifier === "hashedKey" ? ["Key"] : identifier === "text" ? ["Text"] : policy.keys[Number(identifier)];
    byId("values").replaceChildren(...terms.map(term => {
        const input = element("input", {type: "text", spellcheck: "false", autocapitalize: "off", autocomplete: "off"});
        if (term === "global") {
            input.value = "";
            return element("span", {class: "note"}, "shared by all callers", element("input", {type: "hidden", value: ""}));
        }
        input.required = true;
        return element("label", {}, shortened(term), input);
    }));
}

function caller() {
    const values = [...byId("values").querySelectorAll("input")].map(input => input.value);
    const policy = byId("policy").value;
    const identifier = byId("identifier").value;
    return identifier === "hashedKey" ? {policy, hashedKey: values[0]} : identifier === "text" ? {policy, text: values[0]}
        : {policy, alternative: identifier, values};
}

async function lookUpHashedKey(policy, key) {
    byId("policy").value = policy;
    offerIdentifiers();
    byId("identifier").value = "hashedKey";
    offerValues();
    byId("values").querySelector("input").value = key;
    byId("lookup-title").scrollIntoView();
    await lookUp();
}

// Only the response to the latest look-up is shown: keys are hashed, so a late response could be taken for another caller.
let lookups = 0;

async function lookUp(target = caller(), tier = byId("tier").value, message = "") {
    const number = ++lookups;
    let result;
    try {
        result = resultBlock(await post(`${API}callers/peek`, tier === "" ? target : {...target, tier}), target, tier, message);
    } catch (failure) {
        const reason = failure instanceof RequestError ? failure.message : UNREACHABLE;
        result = problem(message === "" ? reason : `${message} Its remaining permits are unknown. ${reason}`);
    }
    if (number === lookups) {
        byId("result").replaceChildren(result);
    }
}

function resultBlock(found, target, tier, message) {
    const rows = found.quotas.map(quota => element("tr", {}, element("th", {scope: "row"}, isolated(quota.name)),
        element("td", {class: "number"}, count(quota.remaining)), element("td", {class: "number"}, count(quota.capacity)),
        element("td", {class: "number"},
            quota.windowMillis === 0 ? `${count(quota.permits)} at once` : `${count(quota.permits)} per ${duration(quota.windowMillis)}`),
        element("td", {class: "number"}, quota.resetAfterMillis === 0 ? "untouched" : duration(quota.resetAfterMillis),
            quota.periodEnd === "" ? "" : ` (resets on ${quota.periodEnd})`)));
    const block = element("div", {class: "result"},
        element("p", {}, "Key ", element("code", {}, inline(found.key)), " under the policy ", inline(found.policy)),
        rows.length === 0 ? element("p", {}, "No limit applies.")
            : table(["Limit", "#Remaining", "#Capacity", "#Permits", "#Reset after"], rows));
    if (found.blockedMillis > 0) {
        block.append(element("p", {class: "bad"}, `The key is blocked for ${duration(found.blockedMillis)}.`));
    }
    if (message !== "") {
        block.prepend(element("p", {class: "good"}, message));
    }
    const reset = element("button", {type: "button"}, "Reset…");
    const actions = element("div", {class: "actions"}, reset, ...changeActions(target, found.key, "Result"), ...blockActions(found, question => {
        actions.hidden = true;
        block.append(question);
    }, () => {
        actions.hidden = false;
    }, target, tier));
    reset.addEventListener("click", () => confirmReset(block, actions, found, target, tier, reset));
    block.append(actions);
    return block;
}

function confirmReset(block, actions, found, target, tier, opener) {
    const confirm = element("button", {type: "button", class: "danger"}, "Reset now");
    const cancel = element("button", {type: "button"}, "Cancel");
    const question = element("div", {class: "confirmation", role: "group", "aria-label": "Confirm the reset"},
        element("p", {}, "Reset this key under ", inline(found.policy), "? It can then spend all permits again, on every instance. The reset is logged."),
        element("div", {class: "actions"}, confirm, cancel));
    const close = () => {
        question.remove();
        actions.hidden = false;
        opener.focus();
    };
    cancel.addEventListener("click", close);
    question.addEventListener("keydown", event => event.key === "Escape" && close());
    confirm.addEventListener("click", async () => {
        confirm.disabled = true;
        try {
            await post(`${API}callers/reset`, target);
            await lookUp(target, tier, "The key was reset.");
            byId("result").querySelector("button")?.focus();
        } catch (failure) {
            byId("result").replaceChildren(
                problem(failure instanceof RequestError ? failure.message : `${UNREACHABLE} The result of the reset is unknown.`));
        }
    });
    actions.hidden = true;
    block.append(question);
    confirm.focus();
}

// ---- blocks

// With runtime changes, a key is blocked by a change. A penalty is ended as without them, by the users who make changes.
const mayBlock = () => !hasChanges() || mayChange();

const CAUSES = {penalty: "penalty", operator: "operator", unknown: "block"};

const clientsOf = policy => (policies.rows.get(policy)?.entry.endpoints ?? []).filter(endpoint => endpoint.startsWith("client:"))
    .map(endpoint => endpoint.slice("client:".length));

const pause = policy => ["pause of client", clientsOf(policy).join(" or ")].join(" ").trim();

const cause = ({policy, cause, penalty, penaltyMillis}) => cause === "penalty" ? `penalty ${penalty}, ${duration(penaltyMillis)}`
    : cause === "pause" ? pause(policy) : CAUSES[cause];

function showBlocked() {
    const list = byId("blocked");
    const first = callers.blocked.slice(0, MAX_BLOCKED);
    const rows = first.map(entry => [entry.policy, entry.key, dateTime(entry.end), cause(entry), count(entry.instances)]);
    const shown = JSON.stringify([rows, callers.blocked.length, callers.blockedComplete, mayBlock()]);
    if (list.dataset.shown === shown || inUse(list)) {
        return;
    }
    list.dataset.shown = shown;
    const left = callers.blocked.length - first.length;
    keepingFocus(list, () => list.replaceChildren(rows.length === 0 ? element("p", {class: "note"}, "none")
        : table(["Policy", "Key", "Blocked until", "By", "#Instances", ""], rows.map(blockedRow)),
    ...left > 0 ? [element("p", {class: "note"}, `${count(left)} more blocked keys are not shown.`)]
        : callers.blockedComplete ? [] : [element("p", {class: "note"}, "An instance can know of more blocked keys than it reports.")]));
}

const MAX_BLOCKED = 50;

function blockedRow([policy, key, end, by, known]) {
    const name = (action, title) => {
        const button = element("button", {type: "button", "data-focus": `blocked ${action} ${policy} ${key}`}, title);
        button.setAttribute("aria-label", `${title.replace("…", "")} ${key} under ${policy}`);
        button.addEventListener("click", () => openCaller(policy, key, action));
        return button;
    };
    return element("tr", {}, element("th", {scope: "row"}, isolated(policy)), element("td", {}, element("code", {}, isolated(key))),
        element("td", {}, isolated(end)), element("td", {}, isolated(by)), element("td", {class: "number"}, known),
        element("td", {}, element("div", {class: "row-actions"}, name("lookup", "Look up"),
            ...mayBlock() ? [name("unblock", "Unblock…")] : [])));
}

function blockButton(policy, key, list) {
    const button = element("button", {type: "button", "data-focus": `${list} block ${policy} ${key}`}, "Block…");
    button.setAttribute("aria-label", `Block ${key} under ${policy}`);
    button.addEventListener("click", () => openCaller(policy, key, "block"));
    return button;
}

// Looks up a caller, and then asks for the confirmation of an action.
async function openCaller(policy, key, action) {
    await lookUpHashedKey(policy, key);
    byId("result").querySelector(`[data-action="${action}"]`)?.click();
}

function blockActions(found, open, close, target, tier) {
    const action = (name, title) => {
        const button = element("button", {type: "button", "data-action": name}, title);
        button.addEventListener("click", () => undoBlock(found, found.key) || confirmBlock(name, found, open, () => {
            close();
            button.focus();
        }, target, tier));
        return button;
    };
    return [...hasChanges() ? [] : [action("block", "Block…")], ...mayBlock() && (found.blockedMillis > 0 || isListedAsBlocked(found)) ? [action("unblock", "Unblock…")] : []];
}

// An instance can know of a block that has ended, and of the penalties that an unblocked key still has.
const isListedAsBlocked = found => callers.blocked.some(({policy, key}) => policy === found.policy && key === found.key);

function confirmBlock(action, found, open, close, target, tier) {
    const blocks = action === "block";
    const length = element("input", {type: "text", required: "", maxlength: "20", value: "1h", "aria-describedby": "duration-form"});
    const reason = element("input", {type: "text", required: "", maxlength: "200", autocomplete: "off"});
    const confirm = element("button", {type: "submit", class: "danger"}, blocks ? "Block now" : "Unblock now");
    const cancel = element("button", {type: "button"}, "Cancel");
    const effect = blocks ? "? Every instance then rejects its calls until the end, if the policy is enforced for the key. The block is logged."
        : "? Its penalties are forgotten. Its spent permits remain spent. The change is logged.";
    const form = element("form", {class: "confirmation", autocomplete: "off", "aria-label": blocks ? "Confirm the block" : "Confirm the end of the block"},
        element("p", {}, blocks ? "Block this key under " : "Unblock this key under ", inline(found.policy), effect),
        element("div", {class: "fields"},
            ...blocks ? [element("label", {}, "Duration", length, element("span", {id: "duration-form"}, "such as 30m, 12h or 7d"))] : [],
            element("label", {}, "Reason, for the log", reason)),
        element("div", {class: "actions"}, confirm, cancel));
    const end = () => {
        form.remove();
        close();
    };
    cancel.addEventListener("click", end);
    form.addEventListener("keydown", event => event.key === "Escape" && end());
    form.addEventListener("submit", async event => {
        event.preventDefault();
        confirm.disabled = true;
        form.querySelector(".problem")?.remove();
        try {
            await post(`${API}callers/${action}`, {...target, reason: reason.value, ...blocks ? {duration: length.value.trim()} : {}});
            await lookUp(target, tier, blocks ? "The key was blocked." : "The key was unblocked.");
            byId("result").querySelector("button")?.focus();
            poll();
        } catch (failure) {
            form.append(problem(failure instanceof RequestError ? failure.message : `${UNREACHABLE} The result is unknown.`));
            confirm.disabled = false;
        }
    });
    open(form);
    (blocks ? length : reason).focus();
}

byId("total-history").append(totalHistory.node);
byId("policy").addEventListener("change", offerIdentifiers);
byId("identifier").addEventListener("change", offerValues);
byId("lookup").addEventListener("submit", event => {
    event.preventDefault();
    lookUp();
});
poll();
