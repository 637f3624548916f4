// SPDX-License-Identifier: Apache-2.0
// Runtime changes: the section with the active ones and the log, and the dialog that makes and undoes them.

import {API, RequestError, UNREACHABLE, byId, count, dateTime, duration, element, inUse, inline, isolated, keepingFocus, post, problem, request, setText,
    table} from "./common.js";

const LOG_LENGTH = 50;
const ATTRIBUTES = [
    {name: "limit", label: "Limits", hint: "such as 10/1s, 1000/1h"},
    {name: "burst", label: "Burst"},
    {name: "concurrency", label: "Concurrency limit"},
    {name: "mode", label: "Mode", options: ["enforce", "shadow", "off"]},
    {name: "on-failure", label: "On failure", options: ["open", "closed", "local", "sample"]},
    {name: "enforce-percent", label: "Enforced percent of keys"},
];
const KEY_ATTRIBUTES = ATTRIBUTES.slice(0, 3);
const ENDS = [["15m", "in 15 minutes"], ["1h", "in 1 hour"], ["2h", "in 2 hours"], ["1d", "in 1 day"], ["", "no end"], ["other", "after another time"]];

// The last state of the instance; null if changes are not enabled.
let state = null;
let logVersion = null;
let refreshPage = () => {};

export const hasChanges = () => state !== null;
export const mayChange = () => state !== null && state.mayChange;

// Returns the active changes of the values of a policy.
export const changesOf = policy => state === null ? [] : state.active.filter(change => change.kind === "policy" && change.policy === policy);

const until = change => change.until === null ? "no end" : `until ${dateTime(change.until)}`;

// Returns the source of a value. A value of a runtime change has the end of the change.
export function sourceOf(policy, source) {
    const change = changesOf(policy).find(({number}) => new RegExp(`^runtime change ${number}\\b`).test(source));
    return change === undefined ? isolated(source) : element("span", {class: "changed"}, `${source}, ${until(change)}`);
}

// ---- the section

const textOf = (values, before) => Object.entries(values).map(([attribute, value]) =>
    `${attribute} ${before[attribute] === undefined ? "" : `${before[attribute]} → `}${value}`).join(", ");

// An undo has no effect of its own. The undo of an undo makes the former change again, with its values and its end.
const isUndo = change => change.undoes !== null && change.until === null && Object.keys(change.values).length === 0;

function effect(change) {
    if (isUndo(change)) {
        return `undoes change ${change.undoes} (${change.kind === "block" ? "blocked" : textOf(change.before, {})})`;
    }
    const values = change.kind === "block" ? "blocked" : textOf(change.values, change.before);
    return change.undoes === null ? values : `${values} (undoes change ${change.undoes})`;
}

function changeRow(change) {
    const actions = element("td", {role: "cell"});
    if (change.undoable && mayChange()) {
        const button = element("button", {type: "button", "data-focus": `undo ${change.number}`, "aria-label": `Undo change ${change.number}`}, "Undo…");
        button.addEventListener("click", () => undo(change));
        actions.append(button);
    }
    const subject = element("div", {}, isolated(change.policy));
    if (change.key !== null) {
        subject.append(element("code", {}, isolated(change.key)));
    }
    if (change.withoutPolicy) {
        subject.append(element("span", {class: "alarm"}, "not applied: this instance does not have the policy"));
    }
    for (const problem of change.notInForce) {
        subject.append(element("span", {class: "alarm"}, isolated(`not in force: ${problem.problem} (${problem.id}); ${problem.remedy}`)));
    }
    const values = change.kind === "override" && !isUndo(change) ? `for this key: ${effect(change)}` : effect(change);
    const cells = [subject, isolated(values), isUndo(change) ? "–" : until(change), isolated(change.author), isolated(change.reason), dateTime(change.at)];
    return element("tbody", {role: "rowgroup"}, element("tr", {role: "row"}, element("th", {scope: "row", role: "rowheader"}, `Change ${change.number}`),
        ...cells.map((cell, index) => element("td", {role: "cell", "data-label": CHANGE_HEADS[index]}, cell)), actions));
}

const CHANGE_HEADS = ["Policy and key", "Values", "End", "Author", "Reason", "Made"];

const changeTable = changes => element("table", {class: "rows", role: "table"},
    element("thead", {role: "rowgroup"}, element("tr", {role: "row"},
        ...["Change", ...CHANGE_HEADS].map(head => element("th", {scope: "col", role: "columnheader"}, head)), element("td"))),
    ...changes.map(changeRow));

function showSection() {
    byId("changes-section").hidden = state === null;
    if (state === null) {
        return;
    }
    setText(byId("changes-note"), [state.shared ? "Changes apply to all instances within a second." : "The backend is not shared, so changes apply to this instance only.",
        "A change takes precedence over the configuration until it ends.",
        state.mayChange ? "" : "You do not have the role of ratelimit.changes.role, so you can see changes only."].join(" "));
    byId("changes-problem").hidden = state.problem === null;
    setText(byId("changes-problem"), state.problem === null ? "" : `The stored changes are ignored: ${state.problem}. The last known ones apply.`);
    const list = byId("active-changes");
    const shown = JSON.stringify([state.active, state.mayChange]);
    if (list.dataset.shown !== shown && !inUse(list)) {
        list.dataset.shown = shown;
        keepingFocus(list, () => list.replaceChildren(
            state.active.length === 0 ? element("p", {class: "note"}, "No change is active.") : changeTable(state.active)));
    }
}

async function showLog() {
    const list = byId("log");
    if (!byId("changes-log").open || logVersion === state?.version || inUse(list)) {
        return;
    }
    const read = await request(`${API}changes?log=${LOG_LENGTH}`);
    if (read.log === null) {
        list.replaceChildren(problem(`The log cannot be read (${read.logProblem}).`));
        return;
    }
    logVersion = read.version;
    list.replaceChildren(read.log.length === 0 ? element("p", {class: "note"}, "none") : changeTable(read.log));
}

// Reads the state. The page calls this function with each refresh.
export async function refreshChanges(enabled, refresh) {
    refreshPage = refresh;
    state = enabled ? await request(`${API}changes`) : null;
    showSection();
    await showLog();
}

byId("changes-log").addEventListener("toggle", () => showLog().catch(() => byId("log").replaceChildren(problem(UNREACHABLE))));

// ---- buttons

// Returns the buttons for a key. A target identifies its caller, as a look-up does.
export function changeActions(target, key, list) {
    if (!mayChange()) {
        return [];
    }
    return [["Set limit…", `Set the limit of ${key} under ${target.policy}`, override], ["Block…", `Block ${key} under ${target.policy}`, block]]
        .flatMap(([text, label, action]) => {
            const button = element("button", {type: "button", "aria-label": label, "data-focus": `${text} ${list} ${target.policy} ${key}`}, text);
            button.addEventListener("click", () => action(target, key));
            return [" ", button];
        });
}

// Returns the button that changes a policy.
export function policyActions(policy) {
    const button = element("button", {type: "button", "data-focus": "change", "aria-label": `Change ${policy.name}`}, "Change…");
    button.addEventListener("click", () => changePolicy(policy));
    return mayChange() ? [button] : [];
}

function changePolicy(policy) {
    const prefixes = [`ratelimit.policies.${policy.name}.`, `ratelimit.policies."${policy.name}".`];
    const attribute = property => prefixes.filter(prefix => property.startsWith(prefix)).map(prefix => property.slice(prefix.length))[0] ?? property;
    const set = Object.fromEntries(policy.settings.map(({property, value}) => [attribute(property), value]));
    // Another instance can have returned the policy, so the changes of the known version take precedence.
    const changed = Object.assign({}, ...changesOf(policy.name).map(({values}) => values).reverse());
    const current = {...set, mode: policy.mode, "on-failure": policy.onFailure, ...changed};
    openDialog({title: ["Change policy ", inline(policy.name)], path: "changes", active: changesOf(policy.name), attributes: ATTRIBUTES, current, hasEnd: true, canPreview: true,
        action: "Apply", body: {kind: "policy", policy: policy.name}});
}

const changesOfKey = (target, key, kind) => state.active.filter(change => change.kind === kind && change.policy === target.policy && change.key === key);

function override(target, key) {
    const active = changesOfKey(target, key, "override");
    const current = Object.assign({}, ...active.map(({values}) => values).reverse());
    openDialog({title: ["Set the limit of ", element("code", {}, inline(key)), " under ", inline(target.policy)], path: "changes",
        note: "This key gets its own limits in place of those of the policy and of its tiers.",
        attributes: KEY_ATTRIBUTES, current, active, hasEnd: true, canPreview: true, action: "Apply", body: {kind: "override", ...target}});
}

function block(target, key) {
    openDialog({title: ["Block ", element("code", {}, inline(key)), " under ", inline(target.policy)], path: "changes",
        note: "All calls of this key are rejected until the end, if the policy is enforced for the key.",
        attributes: [], current: {}, active: changesOfKey(target, key, "block"), hasEnd: true, canPreview: true, action: "Block", body: {kind: "block", ...target}});
}

function undo(change) {
    openDialog({title: [`Undo change ${change.number}`], path: "changes/undo", note: isUndo(change) ? `${change.policy}: change ${change.undoes} is made again, with the same values and end.`
        : `${change.policy}: ${effect(change)}. Earlier changes or the configuration apply again.`,
        attributes: [], current: {}, active: [], hasEnd: false, canPreview: false, action: "Undo", body: {number: String(change.number)}});
}

// Asks for the undo of the change that blocks a key. Returns whether there is such a change.
export function undoBlock(target, key) {
    const change = state === null ? undefined : changesOfKey(target, key, "block")[0];
    if (change !== undefined) {
        undo(change);
    }
    return change !== undefined;
}

// ---- the dialog

function field({name, label, options, hint}, value) {
    const input = options === undefined ? element("input", {type: "text", name, spellcheck: "false", autocapitalize: "off"})
        : element("select", {name}, ...[...new Set([value ?? "", ...options])].map(option => element("option", {value: option}, option)));
    input.value = value ?? "";
    return element("label", {}, hint === undefined ? label : `${label}, ${hint}`, input);
}

function endFields() {
    const select = element("select", {name: "end"}, ...ENDS.map(([value, text]) => element("option", {value}, text)));
    select.value = "1h";
    const other = element("input", {type: "text", name: "for", placeholder: "90m"});
    const otherLabel = element("label", {hidden: ""}, "Time, such as 90m or 3d", other);
    select.addEventListener("change", () => {
        otherLabel.hidden = select.value !== "other";
        other.required = !otherLabel.hidden;
    });
    return [element("label", {}, "Ends", select), otherLabel];
}

function openDialog({title, note, path, attributes, current, active, hasEnd, canPreview, action, body}) {
    const dialog = byId("change");
    const form = element("form", {autocomplete: "off"});
    // The version that the operator has seen. Another operator's change gives the state a new one.
    let {version} = state;
    const apply = element("button", {type: "submit"}, action);
    const preview = element("button", {type: "button"}, "Preview");
    const cancel = element("button", {type: "button"}, "Cancel");
    const result = element("div", {class: "dialog-result", "aria-live": "polite"});
    const reason = element("input", {type: "text", name: "reason", required: "", maxlength: "200"});
    const posted = () => {
        const entered = attributes.map(({name}) => [name, form.elements.namedItem(name).value.trim()]).filter(([, value]) => value !== "");
        const changed = entered.filter(([name, value]) => value !== (current[name] ?? ""));
        const isActive = ([name]) => active.some(change => name in change.values);
        // An override applies as a whole. Without a changed value, an active change gets another end.
        const values = Object.fromEntries(body.kind === "override" ? entered : changed.length > 0 ? changed : entered.filter(isActive));
        const end = hasEnd ? form.elements.namedItem("end").value : "";
        const length = end === "other" ? form.elements.namedItem("for").value.trim() : end;
        return {...body, ...values, ...length === "" ? {} : {for: length}};
    };
    const send = async (to, more, show) => {
        const values = posted();
        if (attributes.length > 0 && !attributes.some(({name}) => name in values)) {
            result.replaceChildren(problem("No value is changed."));
            return;
        }
        apply.disabled = true;
        try {
            await show(await post(`${API}${to}`, {...values, ...more}));
        } catch (failure) {
            if (failure instanceof RequestError && failure.status === 409) {
                version = await showConflict(result, version);
                apply.textContent = `${action} nevertheless`;
            } else {
                result.replaceChildren(...failureBlocks(failure));
            }
        } finally {
            apply.disabled = false;
        }
    };
    form.append(element("h2", {id: "change-title"}, ...title), ...note === undefined ? [] : [element("p", {class: "note"}, isolated(note))],
        ...active.map(change => element("p", {class: "note"}, `Active: change ${change.number} by `, inline(change.author), ": ", inline(effect(change)), `, ${until(change)}`)),
        element("div", {class: "fields"}, ...attributes.map(attribute => field(attribute, current[attribute.name])), ...hasEnd ? endFields() : [],
            element("label", {class: "reason"}, "Reason", reason)),
        result, element("div", {class: "actions"}, ...canPreview ? [preview] : [], apply, cancel));
    preview.addEventListener("click", () => send("changes/preview", {}, found => result.replaceChildren(...previewBlocks(found))));
    cancel.addEventListener("click", () => dialog.close());
    form.addEventListener("submit", event => {
        event.preventDefault();
        send(path, {version, reason: reason.value}, ({change, warnings = []}) => {
            dialog.close();
            setText(byId("changes-done"), [`Change ${change.number} was made: ${change.policy}, ${effect(change)}.`, ...warnings].join(" "));
            refreshPage();
        });
    });
    dialog.replaceChildren(form);
    dialog.showModal();
}

function failureBlocks(failure) {
    if (!(failure instanceof RequestError)) {
        return [problem(`${UNREACHABLE} Whether the change was made is unknown.`)];
    }
    return failure.body?.problems === undefined ? [problem(failure.message)] : problemBlocks(failure.body.problems);
}

// Returns problems as the page shows those of the configuration.
export const problemBlocks = problems => problems.map(one => element("div", {class: "problem"},
    element("p", {}, element("strong", {}, one.id), " ", element("code", {}, inline(one.place)),
        ...one.value === "" ? [] : [" = ", element("code", {}, inline(one.value))]),
    element("p", {}, isolated(one.problem)), element("p", {class: "note"}, isolated(one.remedy))));

// Shows the changes that others have made since a version, and returns the version that contains them.
async function showConflict(result, version) {
    try {
        const now = await request(`${API}changes?log=${LOG_LENGTH}`);
        const seen = Number.parseInt(version, 10) || 0;
        const others = (now.log ?? now.active).filter(({number}) => number > seen);
        result.replaceChildren(element("div", {class: "problem"}, element("p", {}, element("strong", {}, "Nothing was changed: another change was made meanwhile.")),
            ...others.map(change => element("p", {}, `Change ${change.number} by `, inline(change.author), ": ", inline(change.policy),
                ...change.key === null ? [] : [" ", element("code", {}, inline(change.key))], ", ", inline(effect(change)), ". Reason: ", inline(change.reason))),
            element("p", {}, "Check whether your change is still right.")));
        return now.version;
    } catch {
        result.replaceChildren(problem(`Nothing was changed: another change was made meanwhile. ${UNREACHABLE}`));
        return version;
    }
}

function previewBlocks({problems, warnings, before, after, enforced, estimate}) {
    if (problems.length > 0) {
        return problemBlocks(problems);
    }
    const changed = Object.keys(after).filter(name => after[name] !== before[name]);
    const blocks = warnings.map(warning => element("div", {class: "problem"}, element("p", {}, isolated(warning))));
    if (changed.length > 0) {
        blocks.push(table(["Attribute", "Now", "Then"], changed.map(name => element("tr", {}, element("th", {scope: "row"}, name),
            element("td", {}, isolated(before[name] ?? "not set")), element("td", {}, isolated(after[name]))))));
    }
    if (enforced === false) {
        return [...blocks, element("p", {class: "note"}, "The policy is not enforced for this key, so it would reject no call of the key.")];
    }
    return [...blocks, ...estimateBlocks(estimate, after.mode, Number(after["enforce-percent"] ?? 0))];
}

// Says in words what a limit would have done. A block allows no call.
function limitBlock({limit, periodMillis, keys, callsAtLeast}) {
    const period = `Last ${duration(periodMillis)}: `;
    if (limit === "") {
        return element("p", {}, keys === 0 ? `${period}no call of this key.` : `${period}at least ${count(callsAtLeast)} calls of this key, which a block rejects.`);
    }
    return keys === 0 ? element("p", {}, period, "no listed key would certainly have hit ", element("strong", {}, inline(limit)), ".")
        : element("p", {class: "hit"}, period, `${count(keys)} ${keys === 1 ? "key" : "keys"} would have hit `, element("strong", {}, inline(limit)),
            `, and at least ${count(callsAtLeast)} calls would have been rejected.`);
}

function estimateBlocks(estimate, mode, enforcePercent) {
    if (mode === "off") {
        return [element("p", {class: "note"}, "The policy would not count calls and would reject nobody.")];
    }
    if (mode === "shadow") {
        return [element("p", {class: "note"}, enforcePercent > 0 ? `The policy would count calls and reject calls of ${count(enforcePercent)} % of the keys.`
            : "The policy would count calls and reject nobody.")];
    }
    if (estimate === null) {
        return [element("p", {class: "note"}, "Counts of calls do not allow an estimate for these values.")];
    }
    const {listedKeys, limits, keys, decidedLastMinute, shadowRejectedLastMinute} = estimate;
    const blocks = listedKeys === 0 ? [element("p", {}, "No instance lists calls of these keys, so the effect is unknown.")] : limits.map(limitBlock);
    if (shadowRejectedLastMinute > 0) {
        blocks.push(element("p", {}, `Last minute: the current limits would have rejected ${count(shadowRejectedLastMinute)} calls. Shadow mode has counted them.`));
    }
    if (keys.length > 0) {
        blocks.push(table(["Key", "#Rejected at least", "#Calls", "#Allowed at most", "Limit"], keys.slice(0, 5).map(one => element("tr", {},
            element("td", {}, element("code", {}, isolated(one.key))), element("td", {class: "number"}, count(one.atLeast)),
            element("td", {class: "number"}, `${count(one.calls)} in ${duration(one.periodMillis)}`), element("td", {class: "number"}, count(one.allowed)),
            element("td", {}, one.limit === "" ? "blocked" : isolated(one.limit))))));
    }
    blocks.push(element("p", {class: "note"}, `Decisions of the policy in the last minute: ${count(decidedLastMinute)}. `
        + "The estimate is from the counts of the busiest keys, with one permit for each call. More calls can be rejected than it says."));
    return blocks;
}
