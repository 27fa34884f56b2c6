import { withoutAbsent } from '../../../policies/without-absent.ts';
import { UsageError } from '../../terminal/command.ts';
import { readChoice } from '../../terminal/flags.ts';
import type { RequestPlace } from '../evaluation/place-flags.ts';
import type { KnownRun } from '../pipeline/known-run.ts';
import { ALIKE_EVERYWHERE } from '../pipeline/placeholders.ts';

/** Flags that decide which jobs exist, besides the place. Added to a command's flags by `...RUN_FLAGS`. */
export const RUN_FLAGS = { 'ref-type': 'text', variable: 'texts', input: 'texts' } as const;

/** For help texts. */
export const RUN_FLAGS_HELP = `  --ref-type <type>       branch (the default) or tag: what --ref is
  --variable <name=value> as GitLab's settings or the start of the pipeline set it; <name> alone: they do not.
                          Repeat it
  --input <name=value>    an input of the pipeline, where its file has spec:inputs. Repeat it`;

interface RunFlags {
  readonly 'ref-type'?: string | undefined;
  readonly variable: readonly string[];
  readonly input: readonly string[];
}

/**
 * Builds the run from flags, for rules and for names of images and environments.
 *
 * @throws {UsageError} for an invalid variable or input.
 */
export function readRun(flags: RunFlags, place: RequestPlace): KnownRun {
  const { ref, refProtected, projectPath, projectId, pipelineSource, userId } = place;
  const refType = flags['ref-type'];
  const given = Object.fromEntries(flags.variable.map((text) => variableOf(text)));
  const registry = given.CI_REGISTRY ?? undefined;
  return {
    ...(ref !== undefined && { ref }),
    isTag: refType !== undefined && readChoice('ref-type', refType, ['branch', 'tag']) === 'tag',
    ...withoutAbsent({ source: pipelineSource, projectPath }),
    predefined: {
      // Most rules compare with it; --variable says otherwise.
      CI_DEFAULT_BRANCH: 'main',
      ...(projectPath !== undefined &&
        registry !== undefined && { CI_REGISTRY_IMAGE: `${registry}/${projectPath.toLowerCase()}` }),
      ...(projectId !== undefined && { CI_PROJECT_ID: String(projectId) }),
      ...(refProtected !== undefined && { CI_COMMIT_REF_PROTECTED: String(refProtected) }),
      ...(userId !== undefined && { GITLAB_USER_ID: String(userId) }),
    },
    given,
    standIns: ALIKE_EVERYWHERE,
    inputs: Object.fromEntries(flags.input.map((text) => inputOf(text))),
  };
}

function variableOf(text: string): readonly [string, string | null] {
  const [, name, value] = /^([A-Za-z_]\w*)(?:=(.*))?$/s.exec(text) ?? [];
  if (name === undefined)
    throw new UsageError(`--variable "${text}": expected a name and a value, e.g. DEPLOY=true`);
  return [name, value ?? null];
}

function inputOf(text: string): readonly [string, string] {
  const [, name, value] = /^([\w-]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`--input "${text}": expected a name and a value, e.g. stage=test`);
  return [name, value];
}
