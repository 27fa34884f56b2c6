import type { AdminController } from '../../../functions/core/gitlab/index.ts';
import { notThere, refused, type SetupCourse, type SetupLine } from './setup-line.ts';
import { whileUnsure } from './while-unsure.ts';

const part = 'scope';
const EITHER_OR: Pick<SetupLine, 'remedy'> = {
  remedy:
    'a controller has the whole instance or single runners: remove one (glab runner-controller scope delete), or leave the flag out',
};

/** The controller's scope: without one GitLab asks about no job. Scopes that are there are never taken away. */
export async function scopeStep(
  course: SetupCourse,
  controller: AdminController | undefined,
): Promise<readonly SetupLine[]> {
  const { gitlab, mode } = course;
  const wish = await wantedRunners(course);
  if ('line' in wish) return [wish.line];
  const { runnerIds } = wish;
  const wanted = runnerIds.length > 0 ? `runners ${runnerIds.join(', ')}` : 'the instance';
  const absent = notThere(
    part,
    mode,
    `would give it the scope of ${wanted}`,
    'it has no scope: GitLab asks about no job',
  );
  if (controller === undefined) return [absent];
  const scopes = await gitlab.scopes(controller.id);
  if (!scopes.ok) return [refused(part, scopes.refusal)];
  const { instance_level_scopings, runner_level_scopings } = scopes.value;
  const hasInstance = instance_level_scopings.length > 0;
  const has = (runner_level_scopings ?? []).map(({ runner_id }) => runner_id);
  if (runnerIds.length === 0 && !course.scope.instance && has.length > 0)
    return [right(`runners ${has.join(', ')}`)];
  if (runnerIds.length === 0 && hasInstance) return [right('the whole instance')];
  if (runnerIds.length === 0 && has.length > 0)
    return [{ part, standing: 'wrong', says: `its scope is runners ${has.join(', ')}`, ...EITHER_OR }];
  if (runnerIds.length > 0 && hasInstance)
    return [{ part, standing: 'wrong', says: 'its scope is the whole instance', ...EITHER_OR }];
  if (runnerIds.length > 0 && runner_level_scopings === undefined)
    return [
      {
        part,
        standing: 'wrong',
        says: 'GitLab 18.9 has no scopes of single runners',
        remedy: 'upgrade to 18.10, or leave the flag out',
      },
    ];
  const lacking =
    runnerIds.length === 0 ? ['instance' as const] : runnerIds.filter((id) => !has.includes(id));
  if (lacking.length === 0) return [right(`runners ${has.join(', ')}`)];
  if (controller.state === 'enabled')
    return [
      {
        part,
        standing: 'wrong',
        says: `the controller is enabled and lacks the scope of ${wanted}: jobs would fail at once where no relay answers`,
        remedy: 'tollgate controller dry-run, then this command again, then tollgate controller enable',
      },
    ];
  if (mode !== 'change') return [absent];
  for (const scope of lacking) {
    const added = await whileUnsure(
      async () => {
        const now = await gitlab.scopes(controller.id);
        if (!now.ok) return now;
        const runners = (now.value.runner_level_scopings ?? []).map(({ runner_id }) => runner_id);
        const isThere =
          scope === 'instance' ? now.value.instance_level_scopings.length > 0 : runners.includes(scope);
        return { ok: true, value: isThere ? true : undefined };
      },
      () => gitlab.addScope(controller.id, scope),
    );
    if (!added.ok) return [refused(part, added.refusal)];
  }
  return [{ part, standing: 'done', says: `GitLab asks about jobs of ${wanted}` }];
}

const right = (of: string): SetupLine => ({
  part,
  standing: 'right',
  says: `GitLab asks about jobs of ${of}`,
});

/** By number, by tags, by who made them; each narrows nothing and adds. */
async function wantedRunners({
  gitlab,
  scope,
}: SetupCourse): Promise<{ readonly runnerIds: readonly number[] } | { readonly line: SetupLine }> {
  const { runnerIds, tags, owner } = scope;
  if (tags.length === 0 && owner === undefined) return { runnerIds };
  const runners = await gitlab.instanceRunners(tags);
  if (!runners.ok) return { line: refused(part, runners.refusal) };
  if (
    owner !== undefined &&
    runners.value.length > 0 &&
    runners.value.every(({ created_by }) => created_by === undefined)
  )
    return {
      line: {
        part,
        standing: 'wrong',
        says: 'this GitLab does not say who made a runner',
        remedy: 'name runners with --runner or --runner-tag',
      },
    };
  const found = runners.value.filter(
    ({ created_by }) => owner === undefined || created_by?.username === owner,
  );
  if (found.length === 0)
    return {
      line: {
        part,
        standing: 'wrong',
        says: 'no runner of the instance is like that',
        remedy: 'only runners of the instance can be scoped; look at their tags and owners',
      },
    };
  return { runnerIds: [...new Set([...runnerIds, ...found.map(({ id }) => id)])].sort((a, b) => a - b) };
}
