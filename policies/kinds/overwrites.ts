import { word } from '../document/parse-entry.ts';
import type { Reading } from '../document/reading.ts';
import {
  HIDDEN_VALUE,
  OVERWRITE_NAMES,
  type OverwriteName,
  type OverwriteVariable,
  overwriteVariable,
} from '../kubernetes/resource-variables.ts';
import { acceptedRegex, compileRegex, REGEX_TEXT_CHARACTERS_MAX, type Regex } from '../match/regex.ts';
import { memoize } from '../match/remember.ts';
import { oneLine, shortened } from '../text/plain-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import type { FieldMissingReason, StatelessRuleKind } from './rule-kind.ts';

type Setting = true | false | Regex;
type Settings = Readonly<Partial<Record<OverwriteName, Setting>>>;

const REASONS_MAX = 10;
const VARIABLES_MISSING: readonly FieldMissingReason[] = [{ code: 'FIELD_MISSING', field: 'variables' }];

/**
 * Limits which pod settings a job may overwrite: `namespace`, `service_account`, `node_selector`,
 * `node_tolerations`, `pod_labels`, `pod_annotations` with the meaning of the runner's
 * `*_overwrite_allowed`, and `bearer_token` (only `true` or `false`, its value is never sent).
 * - A text is a pattern (see `Regex`) that must match somewhere in the value. Write `^…$`, or `anchored:
 *   true` for all patterns of the rule, to match the whole value. `false` or an empty text: may not be set.
 *   `true`: any value.
 * - An overwrite that the rule does not name is not restricted, unless `others: deny`. The runner's own
 *   default is off; a rule for all runners should be explicit.
 * - An empty namespace, service account or token overwrites nothing and passes. The prefixed settings are
 *   checked even if empty: an empty toleration tolerates every taint.
 * - A value with a `$VARIABLE` left in it must match as written and with the variable empty. A hidden value
 *   (`HIDDEN_VALUE`) matches no pattern.
 * - Labels of `runner.gitlab.com` and its subdomains are read-only under any rule.
 *
 * @see https://docs.gitlab.com/runner/executors/kubernetes/#overwrite-container-resources
 */
export const overwrites: StatelessRuleKind<OverwriteReason> = {
  class: 'security',
  keys: [...OVERWRITE_NAMES, 'anchored', 'others'],
  read(reading) {
    const isAnchored = reading.flag('anchored');
    const others = reading.optional('others', word('the handling of the others', ['allow', 'deny']));
    const settings: Partial<Record<OverwriteName, Setting>> = {};
    for (const name of OVERWRITE_NAMES) {
      const setting = reading.optional(name, (each) => readSetting(each, name, isAnchored));
      if (setting !== undefined) settings[name] = setting;
      else if (others === 'deny') settings[name] = false;
    }
    if (others !== 'deny' && OVERWRITE_NAMES.every((name) => !reading.at(name).isThere))
      reading.refuse(`restricts nothing; expected one of ${OVERWRITE_NAMES.join(', ')}, or others: deny`);
    return ({ request }) =>
      request.variables === undefined ? VARIABLES_MISSING : reasonsFor(request.variables, settings);
  },
  readsVariables: true,
};

function readSetting(reading: Reading, name: OverwriteName, isAnchored: boolean): Setting | undefined {
  if (typeof reading.value === 'boolean') return reading.value;
  if (name === 'bearer_token') return reading.expected('true or false; no rule sees the value');
  if (reading.value === '') return false;
  const pattern = reading.text('a pattern such as "^ci-", or true or false');
  if (pattern === undefined) return undefined;
  const wanted = isAnchored ? `^(?:${pattern})$` : pattern;
  // The pattern itself is checked, too: a bracket in it could close the one around it.
  for (const each of reading.options.wasAccepted ? [] : new Set([pattern, wanted])) {
    const compiled = compileRegex(each);
    if (!compiled.ok) return reading.refuse(`'${pattern}' ${compiled.problem}`);
  }
  const accepted = acceptedRegex(wanted);
  return { ...accepted, matches: memoize(accepted.matches) };
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
    const refused = checkOverwrite(value, overwrite, settings[overwrite.overwrite]);
    if (refused !== undefined) reasons.push({ code: 'OVERWRITE_NOT_ALLOWED', variable, ...refused });
    if (reasons.length === REASONS_MAX) break;
  }
  return reasons;
}

function checkOverwrite(
  value: string,
  { overwrite, isPrefix }: OverwriteVariable,
  setting: Setting | undefined,
): Pick<OverwriteReason, 'why' | 'pattern'> | undefined {
  if (value === '' && !isPrefix) return undefined;
  const forms = judgedForms(value);
  if (overwrite === 'pod_labels' && forms.some((form) => RESERVED.test(form.split('=', 1)[0] ?? '')))
    return { why: 'reserved' };
  if (setting === undefined || setting === true) return undefined;
  if (setting === false) return { why: 'off' };
  const isAllowed = value !== HIDDEN_VALUE && forms.every((form) => setting.matches(form));
  return isAllowed ? undefined : { why: 'pattern', pattern: setting.pattern };
}

/** The runner's syntax: `$NAME`, `${NAME}` and the shell's special parameters. `$$` is a dollar sign. */
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

export interface OverwriteReason {
  readonly code: 'OVERWRITE_NOT_ALLOWED';
  readonly variable: string;
  /** `off`: may not be set at all. `pattern`: does not match it. `reserved`: `runner.gitlab.com` is read-only. */
  readonly why: 'off' | 'pattern' | 'reserved';
  readonly pattern?: string;
}

const PATTERN_CHARACTERS_MAX = 100;
const VARIABLE_CHARACTERS_MAX = 70;

const HEADLINES: Readonly<Record<OverwriteReason['why'], string>> = {
  off: 'may not be set here',
  pattern: 'has a value that is not allowed here',
  reserved: 'may not set labels of runner.gitlab.com',
};
const REMEDIES: Readonly<Record<OverwriteReason['why'], string>> = {
  off: 'Remove the variable wherever it is set: in the job, the pipeline or the CI/CD settings.',
  pattern: 'Give the variable another value, or remove it.',
  reserved: 'Use another label.',
};

export const overwriteNotAllowed: ReasonText<OverwriteReason> = {
  headline: (reason) => `Variable ${name(reason)} ${HEADLINES[reason.why]}.`,
  line: (reason) => [`${name(reason)} ${HEADLINES[reason.why]}`, ...allowedTexts(reason)].join('; '),
  advice: (reason, { disclosure }) => [
    `Retrying will fail again. ${REMEDIES[reason.why]}`,
    ...(disclosure === 'none' ? [] : allowedTexts(reason)),
  ],
};

const allowedTexts = ({ pattern }: OverwriteReason): readonly string[] =>
  pattern === undefined
    ? []
    : [`allowed: values that match ${shortened(oneLine(pattern), PATTERN_CHARACTERS_MAX)}`];

const name = ({ variable }: OverwriteReason): string => shortened(oneLine(variable), VARIABLE_CHARACTERS_MAX);
