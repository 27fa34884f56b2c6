import {
  type AdminAnswer,
  CANARY_DESCRIPTION,
  type GitLabAdministration,
  type GitLabPipelines,
} from '../../../../functions/core/gitlab/index.ts';
import { refused, type SetupLine } from '../setup-line.ts';
import { whileUnsure } from '../while-unsure.ts';
import { CANARY_JOBS } from './canary-verdict.ts';

interface CanaryParts {
  readonly gitlab: GitLabAdministration;
  readonly pipelines: GitLabPipelines;
}

const AGAIN = 'tollgate gitlab canary --cleanup takes away what is left';

/**
 * Takes away what a canary made, this one or one that was killed: first it is disabled, so that nothing waits for it. Jobs that
 * still wait are canceled.
 */
export async function removeCanary(
  { gitlab, pipelines }: CanaryParts,
  projectId: number,
): Promise<readonly SetupLine[]> {
  const lines: SetupLine[] = [];
  const fails = (answer: Extract<AdminAnswer<unknown>, { readonly ok: false }>): readonly SetupLine[] => [
    ...lines,
    { ...refused('controller', answer.refusal), remedy: `${answer.refusal.remedy}; ${AGAIN}` },
  ];
  const all = await gitlab.controllers();
  if (!all.ok) return fails(all);
  for (const { id, description, state } of all.value) {
    if (description !== CANARY_DESCRIPTION) continue;
    if (state !== 'disabled') {
      const disabled = await gitlab.setState(id, 'disabled');
      if (!disabled.ok) return fails(disabled);
    }
    const tokens = await gitlab.tokens(id);
    if (!tokens.ok) return fails(tokens);
    for (const token of tokens.value) {
      const revoked = await gitlab.revokeToken(id, token.id);
      if (!revoked.ok) return fails(revoked);
    }
    const deleted = await gitlab.deleteController(id);
    if (!deleted.ok) return fails(deleted);
    lines.push({
      part: 'controller',
      standing: 'done',
      says: `controller ${id} of the canary is gone, with scope and token`,
    });
  }
  const unfinished = await pipelines.unfinished(projectId);
  if (!unfinished.ok) return fails(unfinished);
  for (const pipelineId of unfinished.value) {
    const jobs = await pipelines.jobs(projectId, pipelineId);
    if (!jobs.ok) return fails(jobs);
    if (!jobs.value.every(({ name }) => CANARY_JOBS.includes(name))) continue;
    const canceled = await pipelines.cancel(projectId, pipelineId);
    if (!canceled.ok) return fails(canceled);
    lines.push({ part: 'pipeline', standing: 'done', says: `canceled pipeline ${pipelineId}` });
  }
  return lines;
}

/** In dry run and without a scope: GitLab asks it about nothing yet. */
export async function makeCanaryController(
  gitlab: GitLabAdministration,
): Promise<AdminAnswer<{ readonly controllerId: number; readonly token: string }>> {
  const made = await whileUnsure(
    async () => {
      const all = await gitlab.controllers();
      if (!all.ok) return all;
      return { ok: true, value: all.value.find(({ description }) => description === CANARY_DESCRIPTION) };
    },
    () => gitlab.createController(CANARY_DESCRIPTION),
  );
  if (!made.ok) return made;
  const { id: controllerId } = made.value;
  // One whose value is lost goes with the controller.
  const token = await gitlab.createToken(controllerId, CANARY_DESCRIPTION);
  return token.ok ? { ok: true, value: { controllerId, token: token.value.token } } : token;
}

/** From now on GitLab asks about this runner's jobs, and obeys. Streams must be open before. */
export async function armCanary(
  gitlab: GitLabAdministration,
  controllerId: number,
  runnerId: number,
): Promise<AdminAnswer<unknown>> {
  const scoped = await whileUnsure(
    async () => {
      const scopes = await gitlab.scopes(controllerId);
      if (!scopes.ok) return scopes;
      const has = scopes.value.runner_level_scopings?.some(({ runner_id }) => runner_id === runnerId);
      return { ok: true, value: has === true ? true : undefined };
    },
    () => gitlab.addScope(controllerId, runnerId),
  );
  return scoped.ok ? gitlab.setState(controllerId, 'enabled') : scoped;
}
