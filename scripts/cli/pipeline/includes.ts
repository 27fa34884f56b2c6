import fs, { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { readUserFile } from '../../terminal/user-file.ts';
import type { InputArguments } from './inputs.ts';
import { knownValuesIn } from './known-run.ts';
import { PipelineError, refused } from './pipeline-error.ts';
import { deepMerge } from './references.ts';
import { PIPELINE_FILE, repositoryOf } from './repository-files.ts';
import { outcomeOf, type PipelineContext, possibleOutcomes } from './rules.ts';
import { expandKnown } from './variables.ts';
import { isMap, type YamlMap } from './yaml-map.ts';

const INCLUDES_MAX = 150;
const WILDCARDS_MAX = 8;

export interface FilePlace {
  readonly file: string;
  readonly line: number;
}

export type LoadedConfig = ReturnType<typeof loadConfig>;

interface LocalInclude {
  readonly files: readonly string[];
  readonly inputs: YamlMap;
}

const NOTHING: LocalInclude = { files: [], inputs: {} };

/** Later includes win over earlier ones, the file over all. A file included twice is read twice, because its inputs may differ. */
export function loadConfig(context: PipelineContext) {
  const { folder: root, file, budget, run, lookUp, readSource } = context;
  const notRead: string[] = [];
  const places = new Map<string, FilePlace>();
  let read = 0;
  const repository = repositoryOf(root);
  return { config: load(file, { values: run.inputs ?? {}, areTyped: true }, []), places, notRead };

  function load(path: string, given: InputArguments, from: readonly string[]): YamlMap {
    if (from.includes(path)) {
      const circle = [...from.slice(from.indexOf(path)), path].join(' → ');
      throw refused(`${circle}: files include each other`);
    }
    read += 1;
    if (read > INCLUDES_MAX + 1) throw refused(`${path}: more than ${INCLUDES_MAX} includes`);
    const source = readSource(readUserFile(join(root, path), path), path, given);
    const { include, ...own } = source.map;
    let merged: YamlMap = {};
    for (const entry of include === undefined ? [] : [include].flat(2)) {
      const { files, inputs: handed } = localInclude(entry);
      for (const written of files) {
        const place = `${path}:${source.lines.get('include') ?? 1}`;
        const config = included(written, place, { values: handed, areTyped: false }, [...from, path]);
        merged = deepMerge(merged, config, budget, written);
      }
    }
    for (const [key, line] of source.lines) places.set(key, { file: path, line });
    return deepMerge(merged, own, budget, path);
  }

  function included(written: string, place: string, given: InputArguments, from: readonly string[]): YamlMap {
    const path = pathOf(written);
    if (path === undefined) {
      if (repository !== undefined || file === PIPELINE_FILE)
        throw refused(`${place}: includes ${written}, which does not exist`);
      leaveOut(
        `local: ${written}`,
        `is not in the folder of ${file}, and the repository's root is not known`,
      );
      return {};
    }
    try {
      return load(path, given, from);
    } catch (error) {
      if (!(error instanceof PipelineError) || error.code !== 'not_told') throw error;
      leaveOut('local', error.message);
      return {};
    }
  }

  /** GitLab looks for includes from the repository's root. A folder below it may be checked as if it were one. */
  function pathOf(written: string): string | undefined {
    const found = [root, repository ?? root].find((folder) => existsSync(join(folder, written)));
    return found && fromRoot(join(found, written));
  }

  function fromRoot(path: string): string {
    return relative(root, path).split(sep).join('/');
  }

  function localInclude(entry: unknown): LocalInclude {
    if (typeof entry === 'string')
      return /^https?:/.test(entry) ? leaveOut(`remote: ${entry}`) : { files: glob(entry), inputs: {} };
    const [kind, what] = isMap(entry) ? wordsOf(entry) : [undefined, ''];
    if (!isMap(entry) || kind === undefined)
      return leaveOut(`include: ${JSON.stringify(entry)}`, 'is not understood');
    const place = `include ${what}`;
    if (kind !== 'local') {
      // It is not read either way, so its rules make no worlds of their own.
      const { outcomes } = possibleOutcomes(entry.rules, place, context);
      return outcomes.every(({ isNever }) => isNever) ? NOTHING : leaveOut(`${kind}: ${what}`);
    }
    if (outcomeOf(entry.rules, place, context).isNever) return NOTHING;
    return { files: glob(what), inputs: isMap(entry.inputs) ? entry.inputs : {} };
  }

  function glob(written: string): string[] {
    const path = expandKnown(written, knownValuesIn(written, lookUp));
    const pattern = path.replace(/^\//, '');
    if (/\$\{?\w/.test(pattern)) leaveOut(`local: ${path}`, 'has a variable that is not known');
    else if (!pattern.includes('*')) return [pattern];
    else if (pattern.split('*').length > WILDCARDS_MAX + 1)
      leaveOut(`local: ${path}`, `has more than ${WILDCARDS_MAX} stars`);
    else {
      // Node 20 has no glob: it finds no file, and the check is "not sure".
      const found = (fs.globSync?.(pattern, { cwd: root }) ?? []).sort();
      if (found.length > 0) return found.map((name) => fromRoot(join(root, name)));
      leaveOut(`local: ${path}`, 'matches no file that was found');
    }
    return [];
  }

  function leaveOut(what: string, why = 'is not in this folder'): LocalInclude {
    notRead.push(`${what.trim()} ${why}; it may change every job and add others`);
    return NOTHING;
  }
}

function wordsOf(entry: YamlMap): readonly [kind: string | undefined, what: string] {
  if (entry.project !== undefined) return ['project', `${entry.project} ${[entry.file].flat().join(', ')}`];
  for (const kind of ['local', 'component', 'template', 'remote', 'artifact']) {
    if (entry[kind] !== undefined) return [kind, String(entry[kind])];
  }
  return [undefined, ''];
}
