import { getStaticTOMLValue, ParseError, parseTOML } from 'toml-eslint-parser';
import { isRecord } from '../../../policies/document/reading.ts';
import { DocumentError } from '../../policy/yaml-document.ts';

/** A value of the file, and the line its key stands on. */
export interface ConfigSetting {
  readonly value: unknown;
  readonly line: number;
}

/** One `[[runners]]` of a config.toml. */
export interface RunnerSection {
  readonly name: string;
  /** First line. */
  readonly line: number;
  /** GitLab's id of the runner; absent in files of versions that wrote none. */
  readonly id?: number;
  readonly executor: string;
  /** By path: `executor`, `docker.allowed_images`, `kubernetes.pod_security_context.run_as_user`. */
  readonly settings: ReadonlyMap<string, ConfigSetting>;
  /** `[[runners.docker.services]]` and the like, by path, in order. */
  readonly tables: ReadonlyMap<string, readonly ConfigSetting[]>;
}

const CHARACTERS_MAX = 1_048_576;
/** A file with more was not written for one machine. */
const RUNNERS_MAX = 1_000;

/** Never leaves this module: what a message or a rule is made of must not hold them. */
const SECRET = /(?:^|\.)(?:token|bearer_token|password|environment|pre_\w+_script|post_\w+_script)$/;

/**
 * Reads all `[[runners]]` of a config.toml.
 *
 * @param file - what problems call it.
 * @throws {DocumentError} with line and column; nothing of the file is quoted, because it holds tokens.
 */
export function readRunnerConfig(text: string, file: string): readonly RunnerSection[] {
  if (text.length > CHARACTERS_MAX)
    throw new DocumentError([`${file}: is larger than 1 MB; is it a config.toml?`]);
  const sections = new Map<
    number,
    { line: number; settings: Map<string, ConfigSetting>; tables: Map<string, ConfigSetting[]> }
  >();
  for (const node of parsed(text, file).body[0].body) {
    if (node.type !== 'TOMLTable') continue;
    const [first, at, ...path] = node.resolvedKey;
    if (first !== 'runners' || typeof at !== 'number') continue;
    const { line } = node.loc.start;
    const section = sections.get(at) ?? { line, settings: new Map(), tables: new Map() };
    sections.set(at, section);
    const pairs = node.body.map(({ key, value, loc }) => ({
      key: getStaticTOMLValue(key),
      value: getStaticTOMLValue(value),
      line: loc.start.line,
    }));
    const inList = path.findIndex((part) => typeof part === 'number');
    if (inList === -1) {
      for (const pair of pairs)
        put(section.settings, [...path, ...pair.key].join('.'), pair.value, pair.line);
    } else {
      // A table in a list of tables, whole: its parts belong together.
      const key = path.slice(0, inList).join('.');
      const all = section.tables.get(key) ?? [];
      const value = Object.fromEntries(pairs.map((pair) => [pair.key.join('.'), pair.value]));
      if (inList === path.length - 1) all.push({ value, line });
      section.tables.set(key, all);
    }
  }
  if (sections.size === 0)
    throw new DocumentError([`${file}: has no [[runners]]; is it a GitLab Runner's config.toml?`]);
  if (sections.size > RUNNERS_MAX)
    throw new DocumentError([`${file}: has more than ${RUNNERS_MAX} [[runners]]`]);
  return [...sections.values()].map((section) => {
    const id = section.settings.get('id')?.value;
    return {
      ...section,
      name: textAt(section, 'name')?.text ?? '',
      executor: textAt(section, 'executor')?.text ?? '',
      ...(typeof id === 'number' && Number.isSafeInteger(id) && id > 0 && { id }),
    };
  });
}

/** An inline table is the same as one under a heading. */
function put(settings: Map<string, ConfigSetting>, key: string, value: unknown, line: number): void {
  if (SECRET.test(key)) settings.set(key, { value: true, line });
  else if (isRecord(value) && !(value instanceof Date))
    for (const [name, inner] of Object.entries(value)) put(settings, `${key}.${name}`, inner, line);
  else settings.set(key, { value, line });
}

function parsed(text: string, file: string): ReturnType<typeof parseTOML> {
  try {
    return parseTOML(text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new DocumentError([`${file}:${error.lineNumber}:${error.column + 1} is no TOML from here on`]);
  }
}

type Settings = Pick<RunnerSection, 'settings'>;

/** A text that is not empty. */
export function textAt({ settings }: Settings, path: string) {
  const { value, line = 0 } = settings.get(path) ?? {};
  return typeof value === 'string' && value !== '' ? { text: value, line } : undefined;
}

/** The texts of a list, or a single text, as the Runner takes it; an empty list is none. */
export function textsAt({ settings }: Settings, path: string) {
  const { value, line = 0 } = settings.get(path) ?? {};
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = list.filter((each) => typeof each === 'string');
  return texts.length > 0 ? { texts, line } : undefined;
}
