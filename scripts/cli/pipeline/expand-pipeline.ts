/**
 * Expands a `.gitlab-ci.yml` into jobs, offline, as GitLab does: local includes with inputs, `extends`,
 * `default`, `!reference`, variables, `parallel`, and `rules:`, `only:` and `except:` as far as the run is
 * known. A job with an undecided condition names it and has every possible form.
 *
 * `when:` is not evaluated: a manual job counts as running.
 */
import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ExpandedPipeline } from './expanded-pipeline.ts';
import { explore, type WorldOutcome } from './explore.ts';
import { expressionReader } from './expression.ts';
import { type KnownRun, runVariables } from './known-run.ts';
import { mergeWorlds } from './merge-worlds.ts';
import { PipelineError } from './pipeline-error.ts';
import { sourceReader } from './pipeline-source.ts';
import { type PipelineWorld, pipelineIn } from './pipeline-world.ts';
import { repositoryFiles } from './repository-files.ts';
import { type WorkBudget, workBudget } from './work-budget.ts';

const FILE = '.gitlab-ci.yml';
/** Includes and workflow rules of real pipelines leave two or three ways open. */
const WORLDS_MAX = 16;

/**
 * @param path - a folder with a `.gitlab-ci.yml`, or such a file; includes are relative to its folder.
 * @param budget - bounds the work; tests read the rest.
 * @throws {PipelineError} for files without a pipeline under any unknown condition, or with too much work.
 */
export function expandPipeline(
  path: string,
  run: KnownRun = {},
  budget: WorkBudget = workBudget(),
): ExpandedPipeline {
  const isFolder = statSync(path).isDirectory();
  const folder = isFolder ? path : dirname(path);
  const notes = { problems: [] as string[], warnings: [] as string[], budget };
  const lookUp = runVariables(run);
  const files = {
    folder,
    file: isFolder ? FILE : basename(path),
    repository: repositoryFiles(folder),
    run,
    lookUp,
    readSource: sourceReader(lookUp, notes),
    expressions: expressionReader(),
    notes,
  };
  const { outcomes, isCut } = explore(
    (world) => pipelineOrRefusal(() => pipelineIn(world, files)),
    WORLDS_MAX,
  );
  const created: WorldOutcome<PipelineWorld>[] = [];
  for (const { value, assumed } of outcomes) {
    if (!(value instanceof PipelineError)) created.push({ value, assumed });
    else notes.problems.push(`${value.message}, where ${assumedText(assumed)}`);
  }
  const [first] = outcomes;
  if (created.length === 0 && first?.value instanceof PipelineError) throw first.value;
  const merged = mergeWorlds({ outcomes: created, isCut });
  const cut = `${files.file}: the rules of its includes may end in more than ${WORLDS_MAX} ways, of which ${WORLDS_MAX} were looked at; tell more with --project, --ref, --source and --variable`;
  return {
    ...merged,
    notRead: isCut ? [...merged.notRead, cut] : merged.notRead,
    problems: [...new Set(notes.problems)],
    warnings: [...new Set(notes.warnings)],
  };
}

/** A refusal in one world leaves the others: the include or the template that is wrong may not be in them. */
function pipelineOrRefusal(make: () => PipelineWorld): PipelineWorld | PipelineError {
  try {
    return make();
  } catch (error) {
    if (error instanceof PipelineError && error.code === 'refused') return error;
    throw error;
  }
}

const assumedText = (assumed: ReadonlyMap<string, boolean>): string =>
  [...assumed].map(([condition, holds]) => `${condition} is ${holds}`).join(', ');
