import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { deepMerge } from './deep-merge.ts';
import type { InputArguments } from './inputs.ts';
import { PipelineError } from './pipeline-error.ts';
import type { ReadSource } from './pipeline-source.ts';
import { possibleOutcomes } from './possible-outcomes.ts';
import { type Circumstances, knownValuesIn, outcomeOf } from './rules.ts';
import { expandKnown } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';
import type { ReadingNotes } from './yaml-source.ts';

/** GitLab's own limit of includes per pipeline. */
const INCLUDES_MAX = 150;
/** Wildcards cost time with each star. */
const WILDCARDS_MAX = 8;

/** Where something stands: the file from the folder of the pipeline, the line from 1. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
}

export interface LoadedConfig {
  readonly config: YamlMap;
  /** Where each key of the top level is defined; the place that wins over the others, if there are several. */
  readonly places: ReadonlyMap<string, FilePlace>;
  /** Includes that are not in the folder, each in its own words, e.g. `template: Jobs/SAST.gitlab-ci.yml`. */
  readonly notFetched: readonly string[];
}

/** An include that its rules let in: files of this folder, with the inputs they are given. */
interface LocalInclude {
  readonly files: readonly string[];
  readonly inputs: YamlMap;
}

const NOTHING: LocalInclude = { files: [], inputs: {} };

/**
 * Reads a file and everything it includes from the same folder. A later include wins over an earlier one, the
 * including file over both. A file included twice is read twice, because its inputs may differ.
 *
 * @throws {PipelineError} for what GitLab creates no pipeline from: files that include each other, wrong inputs.
 */
export function loadConfig(
  root: string,
  file: string,
  inputs: InputArguments,
  about: Circumstances,
  { problems, budget }: ReadingNotes,
  readSource: ReadSource,
): LoadedConfig {
  const notFetched: string[] = [];
  const places = new Map<string, FilePlace>();
  let read = 0;
  return { config: load(file, inputs, []), places, notFetched };

  function load(path: string, given: InputArguments, from: readonly string[]): YamlMap {
    if (from.includes(path)) {
      const circle = [...from.slice(from.indexOf(path)), path].join(' → ');
      throw new PipelineError('refused', `${circle}: files include each other; GitLab creates no pipeline`);
    }
    read += 1;
    if (read > INCLUDES_MAX + 1)
      throw new PipelineError(
        'refused',
        `${path}: more than ${INCLUDES_MAX} includes; GitLab creates no pipeline`,
      );
    const text = textOf(path);
    if (text === undefined) return {};
    const source = readSource(text, path, given);
    const { include, ...own } = source.map;
    let merged: YamlMap = {};
    for (const entry of include === undefined ? [] : [include].flat(2)) {
      const { files, inputs: handed } = localInclude(entry);
      for (const included of files)
        merged = deepMerge(
          merged,
          load(included, { values: handed, areTyped: false }, [...from, path]),
          budget,
          included,
        );
    }
    for (const [key, line] of source.lines) places.set(key, { file: path, line });
    return deepMerge(merged, own, budget, path);
  }

  function textOf(path: string): string | undefined {
    try {
      return readFileSync(join(root, path), 'utf8');
    } catch {
      problems.push(`${path}: cannot be read`);
      return undefined;
    }
  }

  function localInclude(entry: unknown): LocalInclude {
    if (typeof entry === 'string')
      return /^https?:/.test(entry) ? leaveOut(`remote: ${entry}`) : { files: glob(entry), inputs: {} };
    if (!isMap(entry)) {
      problems.push(`include: ${JSON.stringify(entry)} is neither a path nor a mapping`);
      return NOTHING;
    }
    const [kind, what] = wordsOf(entry);
    if (kind === undefined) {
      problems.push(`include: ${Object.keys(entry).join(', ')} is not a kind of include`);
      return NOTHING;
    }
    const place = `include ${what}`;
    if (kind !== 'local') {
      // It is not read either way, so its rules make no worlds of their own.
      const { outcomes } = possibleOutcomes(entry.rules, place, about);
      return outcomes.every(({ isNever }) => isNever) ? NOTHING : leaveOut(`${kind}: ${what}`);
    }
    if (outcomeOf(entry.rules, place, about).isNever) return NOTHING;
    return { files: glob(what), inputs: isMap(entry.inputs) ? entry.inputs : {} };
  }

  function glob(written: string): string[] {
    const path = expandKnown(written, knownValuesIn(written, about.lookUp));
    const pattern = path.replace(/^\//, '');
    if (!pattern.includes('*')) return [pattern];
    if (pattern.split('*').length > WILDCARDS_MAX + 1) {
      problems.push(`include: ${written} has more than ${WILDCARDS_MAX} stars; left out`);
      return [];
    }
    const found = globSync(pattern, { cwd: root }).sort();
    if (found.length === 0) problems.push(`include: no file matches ${path}`);
    return found.map((name) => relative(root, join(root, name)).split(sep).join('/'));
  }

  function leaveOut(what: string): LocalInclude {
    notFetched.push(what.trim());
    return NOTHING;
  }
}

/** The kind of an include and what it names: `local`, `/ci/jobs.yml`. */
function wordsOf(entry: YamlMap): readonly [kind: string | undefined, what: string] {
  if (entry.project !== undefined) return ['project', `${entry.project} ${[entry.file].flat().join(', ')}`];
  for (const kind of ['local', 'component', 'template', 'remote', 'artifact']) {
    if (entry[kind] !== undefined) return [kind, String(entry[kind])];
  }
  return [undefined, ''];
}
