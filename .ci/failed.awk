# SPDX-License-Identifier: Apache-2.0
# Reads the reports of Surefire and Failsafe and prints the failed tests: the name and message of each, then the start of each stack, as far
# as they fit into an output of about forty lines. Then prints the flaky tests: those that failed first and then passed.

function text(xml) {
    gsub(/<!\[CDATA\[|\]\]>/, "", xml)
    gsub(/&#10;/, " ", xml)
    gsub(/&lt;/, "<", xml)
    gsub(/&gt;/, ">", xml)
    gsub(/&quot;/, "\"", xml)
    gsub(/&apos;/, "'", xml)
    gsub(/&amp;/, "\\&", xml)
    return length(xml) > 240 ? substr(xml, 1, 240) " ..." : xml
}

function attribute(name) {
    return match($0, " " name "=\"[^\"]*\"") ? text(substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 4)) : ""
}

/^ *<testcase / {
    test = attribute("classname") "." attribute("name")
    report = FILENAME
    sub(/.*\/TEST-/, "", report)
    sub(/\.xml$/, "", report)
    sub(/^.*\.[^-.]*-?/, "", report) # what is left is the suffix of a later run
}

/^ *<(failure|error)[ >]/ {
    failed++
    names[failed] = test (report == "" ? "" : " [" report "]")
    messages[failed] = attribute("message")
    if (messages[failed] == "") messages[failed] = attribute("type")
    sub(/^ *<(failure|error)[^>]*>/, "")
    within = 1
}

/^ *<flaky(Failure|Error)[ >]/ {
    flaky[++flakes] = test (report == "" ? "" : " [" report "]") ": " attribute("message")
}

within {
    end = /<\/(failure|error)>/
    sub(/<\/(failure|error)>.*/, "")
    line = text($0)
    if (depth[failed] < 15 && line !~ /^[ \t]*$/) stacks[failed, ++depth[failed]] = line
    if (end) within = 0
}

END {
    for (i = 1; i <= failed && i <= 20; i++) print "FAILED " names[i] ": " messages[i]
    if (failed > 20) print "FAILED and " failed - 20 " more"
    printed = i
    for (i = 1; i <= failed && printed < 40; i++) {
        print "--- " names[i]
        for (j = 1; j <= depth[i]; j++) print "    " stacks[i, j]
        printed += depth[i] + 1
    }
    for (i = 1; i <= flakes; i++) print "FLAKY " flaky[i]
}
