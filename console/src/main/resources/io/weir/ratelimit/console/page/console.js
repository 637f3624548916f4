// SPDX-License-Identifier: Apache-2.0
// Data of the instance is only inserted as text, because clients and configuration control much of it.

const POLL_MILLIS = 2000;
const TIMEOUT_MILLIS = 5000;
const UNREACHABLE = "The instance is unreachable.";
const SVG = "http://www.w3.org/2000/svg";

const byId = id => document.getElementById(id);

function element(name, attributes = {}, ...children) {
    const created = document.createElement(name);
    for (const [attribute, value] of Object.entries(attributes)) {
        created.setAttribute(attribute, value);
    }
    created.append(...children);
    return created;
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
const count = value => value.toLocaleString("en");
const time = millis => new Date(millis).toLocaleTimeString("en-GB");
const dateTime = millis => new Date(millis).toLocaleString("en-GB");

function duration(millis) {
    if (millis < 1000) {
        return `${millis} ms`;
    }
    const seconds = Math.ceil(millis / 1000);
    const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
    let rest = seconds;
    const parts = [];
    for (const [size, unit] of units) {
        if (rest >= size) {
            parts.push(`${Math.floor(rest / size)} ${unit}`);
            rest %= size;
        }
    }
    return parts.slice(0, 2).join(" ");
}

function sum(rates, ...outcomes) {
    return outcomes.reduce((all, outcome) => all + (rates.outcomes[outcome]?.perSecond ?? 0), 0);
}

const allPerSecond = rates => sum(rates, ...Object.keys(rates.outcomes));
const rejectedPerSecond = rates => sum(rates, "rejected", "degraded_rejected");

// A chart with one line for decisions and one for rejections per second.
class History {
    constructor(label) {
        this.label = label;
        this.node = document.createElementNS(SVG, "svg");
        this.node.setAttribute("class", "history");
        this.node.setAttribute("viewBox", "0 0 59 20");
        this.node.setAttribute("preserveAspectRatio", "none");
        this.node.setAttribute("role", "img");
        this.lines = ["decided", "rejected"].map(kind => {
            const line = document.createElementNS(SVG, "polyline");
            line.setAttribute("class", kind);
            this.node.append(line);
            return line;
        });
    }

    show(rates) {
        const top = Math.max(1, ...rates.decided);
        [rates.decided, rates.rejected].forEach((values, kind) => this.lines[kind].setAttribute("points",
            values.map((value, second) => `${second},${(19 - 18 * value / top).toFixed(1)}`).join(" ")));
        const rejected = Math.max(0, ...rates.rejected);
        this.node.setAttribute("aria-label",
            `${this.label}: at most ${Math.max(0, ...rates.decided)} decisions and ${rejected} rejections per second in the last minute`);
    }
}

// ---- one policy

class PolicyRows {
    constructor(name) {
        this.name = name;
        this.id = `policy-${PolicyRows.created = (PolicyRows.created ?? 0) + 1}`;
        this.opener = element("button", {type: "button", class: "plain opener", "aria-expanded": "false", "aria-controls": this.id},
            isolated(name));
        this.opener.addEventListener("click", () => this.open(this.details.hidden));
        this.history = new History(name);
        this.cells = {};
        const row = element("tr", {role: "row"}, element("th", {scope: "row", role: "rowheader"}, this.opener),
            this.cell("mode", "Mode"), this.cell("limits", "Limits", "limits"), this.cell("key", "Key"),
            this.cell("decided", "Decisions/s", "number"), this.cell("rejected", "Rejected/s", "number"),
            this.cell("rejectedShare", "Rejected share", "number"), this.cell("used", "Used, mean / maximum", "number"),
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

    open(expanded) {
        this.details.hidden = !expanded;
        this.opener.setAttribute("aria-expanded", String(expanded));
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
        setText(cells.rejected, perSecond(rejectedPerSecond(rates)));
        setText(cells.rejectedShare, rates.rejectedShare === null ? "–" : percent(rates.rejectedShare));
        setText(cells.used, rates.utilization === null ? "–"
            : `${percent(rates.utilization.mean)} / ${percent(rates.utilization.max)}`);
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
                this.topBlock("Most rejected", top.rejected), this.topBlock("Most active", top.active),
                this.nearLimitBlock(top.nearLimit)));
        }
        const settings = JSON.stringify({...this.policy, rates: null, top: null});
        if (this.shownFixed !== settings && !inUse(this.fixed)) {
            this.shownFixed = settings;
            keepingFocus(this.fixed, () => this.fixed.replaceChildren(...settingsBlocks(this.policy)));
        }
    }

    topBlock(title, entries) {
        const period = this.policy.top.periodMillis;
        return keysBlock(period > 0 ? `${title}, last ${duration(period)}` : title, ["#Count", "#Highest use"],
            entries.map(entry => keyRow(this.name, entry.key, title, [bounds(entry), percent(entry.utilization)])));
    }

    nearLimitBlock(entries) {
        const title = "Near the limit";
        return keysBlock(title, ["#For"],
            entries.map(entry => keyRow(this.name, entry.key, title, [entry.durationMillis < 60_000 ? "under 1 min" : duration(entry.durationMillis)])));
    }
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
        ...numbers.map(number => element("td", {class: "number"}, number)), element("td", {}, button));
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

// A list is not updated while one of its buttons is pressed or its text is selected. The next response updates it.
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
            element("td", {}, isolated(setting.value)), element("td", {}, isolated(setting.source))))));
    return blocks;
}

// ---- the state

const totalHistory = new History("All policies");
const policies = new Map();
let lastResponseAt = null;
let failingSince = null;
let timer = null;

function showBackend(backend) {
    setText(byId("backend"), backend.name);
    setText(byId("state"), backend.state);
    byId("state").className = backend.state === "up" ? "good" : backend.state === "degraded" ? "bad" : "";
    setText(byId("breaker"), !backend.breakerOpen ? "closed" : backend.probeAfterMillis === 0 ? "open, the next call is the probe"
        : `open, next probe in ${duration(backend.probeAfterMillis)}`);
    byId("breaker").className = backend.breakerOpen ? "bad" : "";
    setText(byId("degraded"), count(backend.degradedDecisions));
    setText(byId("failure"), backend.lastFailure === null ? "none"
        : `${backend.lastFailure}, ${duration(backend.lastFailureSecondsAgo * 1000)} ago`);
}

function showTotal(rates) {
    const shown = JSON.stringify(rates.outcomes);
    if (byId("outcomes").dataset.shown !== shown) {
        byId("outcomes").dataset.shown = shown;
        const rows = outcomeRows(rates);
        byId("outcomes").replaceChildren(...rows.length === 0
            ? [element("tr", {}, element("td", {colspan: "3", class: "note"}, "no decisions in the last minute"))] : rows);
    }
    setText(byId("rejected-share"), rates.rejectedShare === null ? "–" : percent(rates.rejectedShare));
    totalHistory.show(rates);
}

const MAX_TOP_KEYS = 10;

function showMostRejected(all) {
    const rejected = all.flatMap(({name, top}) => top.rejected.map(entry => ({policy: name, ...entry})))
        .sort((one, other) => other.minCount - one.minCount).slice(0, MAX_TOP_KEYS);
    const list = byId("rejected");
    const shown = JSON.stringify(rejected);
    if (list.dataset.shown === shown || inUse(list)) {
        return;
    }
    list.dataset.shown = shown;
    keepingFocus(list, () => list.replaceChildren(rejected.length === 0 ? element("p", {class: "note"}, "none")
        : table(["Policy", "Key", "#Count", ""], rejected.map(entry => keyRow(entry.policy, entry.key, "Most rejected",
            [bounds(entry)], element("th", {scope: "row"}, isolated(entry.policy)))))));
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

function showReload(reload) {
    const shown = JSON.stringify(reload);
    if (byId("reload").dataset.shown === shown) {
        return;
    }
    byId("reload").dataset.shown = shown;
    const results = {applied: "all values apply", invalid: "some values are invalid, and the previous ones still apply",
        failed: "a source failed, and all previous values still apply"};
    setText(byId("reload"), `Last reload ${dateTime(reload.at)}: ${results[reload.result] ?? reload.result}.`);
    byId("problems").replaceChildren(...reload.problems.map(problem => element("div", {class: "problem"},
        element("p", {}, element("strong", {}, problem.id), " ", element("code", {}, inline(problem.place)),
            ...problem.value === "" ? [] : [" = ", element("code", {}, inline(problem.value))]),
        element("p", {}, isolated(problem.problem)), element("p", {class: "note"}, isolated(problem.remedy)))));
}

function show(state) {
    setText(byId("host"), state.instance.host);
    setText(byId("started"), dateTime(state.instance.started));
    byId("started").dateTime = new Date(state.instance.started).toISOString();
    showBackend(state.backend);
    showTotal(state.rates);
    showMostRejected(state.policies);
    showPolicies(state.policies);
    showReload(state.reload);
}

// ---- requests to the instance

class RequestError extends Error {}

async function request(path, options = {}) {
    const stop = new AbortController();
    const timeout = setTimeout(() => stop.abort(), TIMEOUT_MILLIS);
    try {
        const response = await fetch(path, {...options, signal: stop.signal, redirect: "manual", cache: "no-store"});
        const json = (response.headers.get("Content-Type") ?? "").startsWith("application/json") ? await response.json() : null;
        if (response.ok && json !== null) {
            return json;
        }
        if (response.type === "opaqueredirect") {
            throw new RequestError("Your login has expired. Reload the page.");
        }
        throw new RequestError(json?.message ?? `The instance returned status ${response.status}. If your login has expired, reload the page.`);
    } finally {
        clearTimeout(timeout);
    }
}

const post = (path, body) => request(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});

function showError(failure) {
    failingSince ??= Date.now();
    const reason = failure instanceof RequestError ? failure.message : UNREACHABLE;
    const age = lastResponseAt === null ? "There are no figures yet." : `The figures are those of ${time(lastResponseAt)}.`;
    byId("error").hidden = false;
    setText(byId("error"), `${reason} Since ${time(failingSince)}. ${age}`);
    document.body.classList.add("stale");
    setText(byId("freshness"), "outdated");
}

async function poll() {
    clearTimeout(timer);
    timer = null;
    try {
        const state = await request("state");
        show(state);
        lastResponseAt = Date.now();
        failingSince = null;
        byId("error").hidden = true;
        document.body.classList.remove("stale");
        setText(byId("freshness"), `as of ${time(state.instance.now)}`);
    } catch (failure) {
        showError(failure);
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

function lookUpHashedKey(policy, key) {
    byId("policy").value = policy;
    offerIdentifiers();
    byId("identifier").value = "hashedKey";
    offerValues();
    byId("values").querySelector("input").value = key;
    byId("lookup-title").scrollIntoView();
    lookUp();
}

// Only the response to the latest look-up is shown: keys are hashed, so a late response could be taken for another caller.
let lookups = 0;

async function lookUp(target = caller(), tier = byId("tier").value, message = "") {
    const number = ++lookups;
    let result;
    try {
        result = resultBlock(await post("peek", tier === "" ? target : {...target, tier}), target, tier, message);
    } catch (failure) {
        const reason = failure instanceof RequestError ? failure.message : UNREACHABLE;
        result = problem(message === "" ? reason : `${message} Its remaining permits are unknown. ${reason}`);
    }
    if (number === lookups) {
        byId("result").replaceChildren(result);
    }
}

const problem = message => element("p", {class: "problem"}, message);

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
    if (message !== "") {
        block.prepend(element("p", {class: "good"}, message));
    }
    const reset = element("button", {type: "button"}, "Reset…");
    const actions = element("div", {class: "actions"}, reset);
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
            await post("reset", target);
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

byId("total-history").append(totalHistory.node);
byId("policy").addEventListener("change", offerIdentifiers);
byId("identifier").addEventListener("change", offerValues);
byId("lookup").addEventListener("submit", event => {
    event.preventDefault();
    lookUp();
});
poll();
