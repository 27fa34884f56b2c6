import { globSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { deepMerge } from './deep-merge.ts';
import { isMap, parseYaml, type YamlMap } from './yaml-source.ts';

/** GitLab's own limit of files per pipeline. */
const INCLUDES_MAX = 150;

/** Where something stands: the file from the folder of the pipeline, the line from 1. */
export interface FilePlace {
  readonly file: string;
  readonly line: number;
}

export interface LoadedConfig {
  readonly config: YamlMap;
  /** Where each key of the top level is defined; of several places the one that wins over the others. */
  readonly places: ReadonlyMap<string, FilePlace>;
  /** Includes that are not in the folder, each in its own words, e.g. `template: Jobs/SAST.gitlab-ci.yml`. */
  readonly notFetched: readonly string[];
  readonly problems: readonly string[];
}

/**
 * Reads a file and everything it includes from the same folder. A later include wins over an earlier one, the
 * including file over both. Conditions are not evaluated: an include is taken, unless the first of its rules says
 * `when: never`, which is how files for forks are kept out of the project they belong to.
 */
export function loadConfig(root: string, file: string): LoadedConfig {
  const notFetched: string[] = [];
  const problems: string[] = [];
  const read: string[] = [];
  const places = new Map<string, FilePlace>();
  return { config: load(file), places, notFetched, problems };

  function load(path: string): YamlMap {
    if (read.length >= INCLUDES_MAX) {
      problems.push(`${path}: more than ${INCLUDES_MAX} files; the rest is left out`);
      return {};
    }
    read.push(path);
    let text: string;
    try {
      text = readFileSync(join(root, path), 'utf8');
    } catch {
      problems.push(`${path}: cannot be read`);
      return {};
    }
    const source = parseYaml(text, path, problems);
    const { include, ...own } = source.map;
    let merged: YamlMap = {};
    for (const entry of include === undefined ? [] : Array.isArray(include) ? include.flat() : [include]) {
      for (const included of localFiles(entry)) {
        // A file included twice is merged once: the second time would change nothing.
        if (!read.includes(included)) merged = deepMerge(merged, load(included));
      }
    }
    for (const [key, line] of source.lines) places.set(key, { file: path, line });
    return deepMerge(merged, own);
  }

  function localFiles(entry: unknown): string[] {
    if (typeof entry === 'string') return /^https?:/.test(entry) ? leaveOut(`remote: ${entry}`) : glob(entry);
    if (!isMap(entry)) {
      problems.push(`include: ${JSON.stringify(entry)} is neither a path nor a mapping`);
      return [];
    }
    for (const kind of ['component', 'template', 'remote', 'artifact']) {
      if (entry[kind] !== undefined) return leaveOut(`${kind}: ${entry[kind]}`);
    }
    if (entry.project !== undefined)
      return leaveOut(`project: ${entry.project} ${[entry.file].flat().join(', ')}`);
    if (typeof entry.local !== 'string') {
      problems.push(`include: ${Object.keys(entry).join(', ')} is not a kind of include`);
      return [];
    }
    const [firstRule] = Array.isArray(entry.rules) ? entry.rules : [];
    if (isMap(firstRule) && firstRule.when === 'never') {
      return leaveOut(`local: ${entry.local} (its first rule says never)`);
    }
    return glob(entry.local);
  }

  function glob(path: string): string[] {
    const pattern = path.replace(/^\//, '');
    if (!pattern.includes('*')) return [pattern];
    const found = globSync(pattern, { cwd: root }).sort();
    if (found.length === 0) problems.push(`include: no file matches ${path}`);
    return found.map((name) => relative(root, join(root, name)).split(sep).join('/'));
  }

  function leaveOut(what: string): string[] {
    notFetched.push(what.trim());
    return [];
  }
}
