import type { Reading } from '../../document/reading.ts';
import {
  HIDDEN_VALUE,
  OVERWRITE_NAMES,
  type OverwriteName,
  type OverwriteVariable,
  overwriteVariable,
} from '../../kubernetes/overwrite-variables.ts';
import { acceptedRegex, compileRegex, REGEX_TEXT_CHARACTERS_MAX, type Regex } from '../../match/regex.ts';
import { remembering } from '../../match/remember.ts';
import type { Check, FieldMissingReason, StatelessRuleKind } from '../rule-kind.ts';
import type { OverwriteReason } from './overwrites-text.ts';

/** What may be set: anything, nothing, or what the pattern matches. */
type Setting = true | false | Regex;
type Settings = Readonly<Partial<Record<OverwriteName, Setting>>>;

/** A job page with more of them helps nobody. */
const REASONS_MAX = 10;
const VARIABLES_MISSING: readonly FieldMissingReason[] = [{ code: 'FIELD_MISSING', field: 'variables' }];

/**
 * What a job may overwrite of its pod: `namespace`, `service_account`, `node_selector`, `node_tolerations`,
 * `pod_labels`, `pod_annotations` with the meaning of the runner's `*_overwrite_allowed`, and `bearer_token` (only
 * `true` or `false`, its value never gets here).
 *
 * - A text is a pattern (see `Regex`) that the value must match somewhere; write `^…$`, or `anchored: true` for all
 *   patterns of the rule, where the whole value is meant. `false` or an empty text: may not be set. `true`: any value.
 * - An overwrite that the rule does not name is not restricted, unless `others: deny`. (The runner's own default is
 *   off; a rule for the whole fleet should say what it means.)
 * - An empty namespace, service account or token overwrites nothing and passes. Behind the prefixes an empty value is
 *   judged like any other: the empty toleration tolerates every taint.
 * - A value in which a `$VARIABLE` was left must match as written and with the variable empty. One that is set but not
 *   shown to us (`HIDDEN_VALUE`) matches no pattern.
 * - Labels of `runner.gitlab.com` and its subdomains are read-only, whatever the rule says.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#overwrite-container-resources
 */
export const overwrites: StatelessRuleKind<OverwriteReason> = {
  class: 'security',
  keys: [...OVERWRITE_NAMES, 'anchored', 'others'],
  read: readOverwrites,
  readsVariables: true,
};

function readOverwrites(reading: Reading): Check<OverwriteReason> {
  const anchored = reading.at('anchored');
  const isAnchored = anchored.isThere && anchored.boolean() === true;
  const others = reading.at('others');
  const deny =
    others.isThere && others.oneOf('what the rule says of the others', ['allow', 'deny']) === 'deny';
  const settings: Partial<Record<OverwriteName, Setting>> = {};
  for (const name of OVERWRITE_NAMES) {
    const setting = readSetting(reading.at(name), name, isAnchored);
    if (setting !== undefined) settings[name] = setting;
    else if (deny) settings[name] = false;
  }
  if (!deny && OVERWRITE_NAMES.every((name) => !reading.at(name).isThere))
    reading.refuse(`restricts nothing; expected one of ${OVERWRITE_NAMES.join(', ')}, or others: deny`);
  return ({ request }) =>
    request.variables === undefined ? VARIABLES_MISSING : reasonsFor(request.variables, settings);
}

function readSetting(reading: Reading, name: OverwriteName, isAnchored: boolean): Setting | undefined {
  if (!reading.isThere) return undefined;
  if (typeof reading.value === 'boolean') return reading.value;
  if (name === 'bearer_token') return reading.expected('true or false; no rule sees the value');
  if (reading.value === '') return false;
  const pattern = reading.text('a pattern such as "^ci-", or true or false');
  if (pattern === undefined) return undefined;
  const wanted = isAnchored ? `^(?:${pattern})$` : pattern;
  if (reading.wasAccepted) {
    const accepted = acceptedRegex(wanted);
    return { ...accepted, matches: remembering(accepted.matches) };
  }
  const whole = compileRegex(wanted);
  // The pattern itself where anything is wrong, because in the one put around it a position would be off; and where a bracket
  // could close the one around it. Any other pattern is compiled once.
  const alone = isAnchored && (!whole.ok || pattern.includes(')')) ? compileRegex(pattern) : whole;
  if (!alone.ok) return reading.refuse(`'${pattern}' ${alone.problem}`);
  if (!whole.ok) return reading.refuse(`'${pattern}' ${whole.problem}`);
  return { ...whole.regex, matches: remembering(whole.regex.matches) };
}

function reasonsFor(
  variables: Readonly<Record<string, string>>,
  settings: Settings,
): readonly OverwriteReason[] {
  const reasons: OverwriteReason[] = [];
  for (const variable in variables) {
    const overwrite = overwriteVariable(variable);
    const value = variables[variable];
    if (overwrite === undefined || value === undefined) continue;
    const reason = reasonFor(variable, value, overwrite, settings[overwrite.overwrite]);
    if (reason !== undefined) reasons.push(reason);
    if (reasons.length === REASONS_MAX) break;
  }
  return reasons;
}

function reasonFor(
  variable: string,
  value: string,
  { overwrite, isPrefix }: OverwriteVariable,
  setting: Setting | undefined,
): OverwriteReason | undefined {
  if (value === '' && !isPrefix) return undefined;
  const forms = judgedForms(value);
  if (overwrite === 'pod_labels' && forms.some(isReservedLabel))
    return { code: 'OVERWRITE_NOT_ALLOWED', variable, why: 'reserved' };
  if (setting === undefined || setting === true) return undefined;
  if (setting === false) return { code: 'OVERWRITE_NOT_ALLOWED', variable, why: 'off' };
  if (value !== HIDDEN_VALUE && forms.every((form) => setting.matches(form))) return undefined;
  return { code: 'OVERWRITE_NOT_ALLOWED', variable, why: 'pattern', pattern: setting.pattern };
}

/** What the runner takes for a variable: `$NAME`, `${NAME}`, one of the shell's own; `$$` is a dollar. */
const REFERENCE = /\$(?:\{[^}]*\}|\{|[A-Za-z_]\w*|[*#$@!?\d-])/g;

/**
 * The forms of a value that have to be allowed. GitLab puts in the variables it knows before it asks; one that is left
 * is mostly set nowhere, and becomes empty in the runner. So what is left must neither hide what the pod will get nor
 * lend its letters to a match: `prod${ci-}` is `prod`.
 */
function judgedForms(value: string): readonly string[] {
  // No pattern matches a longer one, so there is nothing to find out.
  if (!value.includes('$') || value.length > REGEX_TEXT_CHARACTERS_MAX) return [value];
  return [value, value.replace(REFERENCE, (reference) => (reference === '$$' ? '$' : ''))];
}

/** `runner.gitlab.com/…`, `job.runner.gitlab.com/id`: the runner's own labels, in any case. */
const RESERVED = /(?:^|\.)runner\.gitlab\.com(?:\/|$)/i;

/** Whether `key=value` sets a label in the runner's own namespace. */
const isReservedLabel = (value: string): boolean => RESERVED.test(value.split('=', 1)[0] ?? '');
