export interface RunnerVariable {
  /** `undefined`: it is set, but what it holds is not for us to know: masked, a file, too long. */
  readonly value: string | undefined;
  readonly raw: boolean | undefined;
}

type FindVariable = (name: string) => RunnerVariable | undefined;

export type Passes = 1 | 2;

export interface RunnerVariables {
  /** Undefined if a value is unknown, or if a `$` is left: another executor might expand it again. */
  resolve(text: string, passes: Passes): string | undefined;
  valueFor(name: string): string | undefined;
  resolveOwn(variable: RunnerVariable): string | undefined;
}

/** The shell's own names: the runner has `$` for the first and nothing for the others. */
const SHELLS_OWN: ReadonlyMap<string, string> = new Map([
  ['$', '$'],
  ...[...'*#@!?0123456789'].map((name) => [name, ''] as const),
]);

/** The runner sets these after the job's variables, or in their place: what the job says they hold does not count. */
const RUNNERS_OWN =
  /^(?:FF_.*|CI_SHARED_ENVIRONMENT|CI_DISPOSABLE_ENVIRONMENT|CI_RUNNER_(?:VERSION|REVISION|EXECUTABLE_ARCH)|RUNNER_TEMP_PROJECT_DIR|CI_BUILD_NETWORK_NAME)$/;

/**
 * A job's variables as the runner expands them: each value once with the values of the others as they came, then a text
 * once or twice with the results. A name that did not come is not empty but unknown: the runner's configuration or the
 * job's `secrets:` may set it.
 *
 * @see https://docs.gitlab.com/ci/variables/where_variables_can_be_used/#gitlab-runner-internal-variable-expansion-mechanism
 */
export function runnerVariables(find: FindVariable): RunnerVariables {
  const values = new Map<string, string | undefined>();

  const received = (name: string): RunnerVariable | undefined =>
    RUNNERS_OWN.test(name) ? undefined : find(name);
  const receivedValue = (name: string): string | undefined => SHELLS_OWN.get(name) ?? received(name)?.value;

  function expandedValue(name: string): string | undefined {
    const special = SHELLS_OWN.get(name);
    if (special !== undefined) return special;
    if (!values.has(name)) {
      const variable = received(name);
      values.set(name, variable && valueIn(variable, receivedValue));
    }
    return values.get(name);
  }

  return {
    resolve(text, passes) {
      // An input is put in before anything else, by its own rules.
      if (/\$\{\{|\$\[\[/.test(text)) return undefined;
      const once = expandValue(text, expandedValue);
      const last = passes === 1 || once === undefined ? once : expandValue(once, expandedValue);
      return last?.includes('$') ? undefined : last;
    },
    valueFor: expandedValue,
    resolveOwn(variable) {
      const once = valueIn(variable, receivedValue);
      if (once === undefined || variable.raw === true) return once;
      return expandValue(once, expandedValue);
    },
  };
}

function valueIn({ value, raw }: RunnerVariable, lookUp: VariableLookup): string | undefined {
  if (value === undefined || raw === true || !value.includes('$')) return value;
  return raw === undefined ? undefined : expandValue(value, lookUp);
}

type VariableLookup = (name: string) => string | undefined;

const EXPANDED_CHARACTERS_MAX = 1_024;

const SPECIAL = /^[*#$@!?\-0-9]/;
const NAME = /\w+/y;

/**
 * Replaces `$NAME` and `${NAME}` as the runner does (Go's `os.Expand`). A name may begin with a digit only
 * if it is that digit alone. `${}` and an unclosed `${` are dropped; a `$` before any other character stays.
 *
 * Returns undefined if a value is unknown, or if the result is longer than {@link EXPANDED_CHARACTERS_MAX}.
 *
 * @see https://pkg.go.dev/os#Expand
 */
export function expandValue(text: string, lookUp: VariableLookup): string | undefined {
  let expanded = '';
  for (let at = 0; at < text.length; ) {
    const dollar = text.indexOf('$', at);
    if (dollar === -1 || dollar === text.length - 1) {
      expanded += text.slice(at);
      break;
    }
    const { name, end } = referenceAt(text, dollar + 1);
    const value = name === undefined ? '' : name === '' ? '$' : lookUp(name);
    if (value === undefined) return undefined;
    expanded += text.slice(at, dollar) + value;
    if (expanded.length > EXPANDED_CHARACTERS_MAX) return undefined;
    at = end;
  }
  return expanded.length > EXPANDED_CHARACTERS_MAX ? undefined : expanded;
}

function referenceAt(
  text: string,
  start: number,
): { readonly name: string | undefined; readonly end: number } {
  if (text[start] === '{') {
    const special = text[start + 1] ?? '';
    if (SPECIAL.test(special) && text[start + 2] === '}') return { name: special, end: start + 3 };
    const close = text.indexOf('}', start + 1);
    if (close === -1) return { name: undefined, end: start + 1 };
    const name = text.slice(start + 1, close);
    return { name: name === '' ? undefined : name, end: close + 1 };
  }
  const first = text[start] ?? '';
  if (SPECIAL.test(first)) return { name: first, end: start + 1 };
  NAME.lastIndex = start;
  const name = NAME.exec(text)?.[0] ?? '';
  return { name, end: start + name.length };
}
