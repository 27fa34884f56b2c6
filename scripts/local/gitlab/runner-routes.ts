import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { withoutAbsent } from '../../../policies/without-absent.ts';
import type { LocalRunner } from './job.ts';
import type { JobBook } from './job-book.ts';
import { numberedPage } from './pagination.ts';
import { managerEntity, runnerDetailEntity, runnerEntity } from './runner-bodies.ts';

const Creation = z.object({
  runner_type: z.enum(['instance_type', 'group_type', 'project_type']),
  group_id: z.int().optional(),
  project_id: z.int().optional(),
  description: z.string().optional(),
  tag_list: z.array(z.string()).optional(),
  run_untagged: z.boolean().optional(),
  // GitLab wants ten minutes at least.
  maximum_timeout: z.int().min(600).optional(),
  maintenance_note: z.string().max(1_024).optional(),
});
const Update = z.object({ paused: z.boolean() });

/** An administrator's view of the runners, and the two changes a migration makes. */
export function runnerRoutes(app: Hono, book: JobBook, random: () => number): void {
  const asked = (c: Context): LocalRunner | undefined => book.runner(Number(c.req.param('runnerId')));
  const missing = (c: Context): Response => c.json({ message: '404 Not found' }, 404);

  app.get('/runners/all', (c) => {
    const url = new URL(c.req.url);
    const runners = book.runners().filter((runner) => isAsked(runner, url.searchParams));
    const { entries, headers } = numberedPage(runners, url);
    return c.json(entries.map(runnerEntity), 200, headers);
  });
  app.get('/runners/:runnerId', (c) => {
    const runner = asked(c);
    return runner === undefined ? missing(c) : c.json(runnerDetailEntity(runner));
  });
  app.get('/runners/:runnerId/managers', (c) => {
    const runner = asked(c);
    return runner === undefined ? missing(c) : c.json((runner.managers ?? []).map(managerEntity));
  });
  app.put('/runners/:runnerId', async (c) => {
    const runner = asked(c);
    if (runner === undefined) return missing(c);
    const update = Update.safeParse(await c.req.json());
    if (!update.success) return c.json({ error: 'paused is missing' }, 400);
    book.addRunner({ ...runner, paused: update.data.paused });
    return c.json(runnerDetailEntity({ ...runner, paused: update.data.paused }));
  });
  app.post('/user/runners', async (c) => {
    const creation = Creation.safeParse(await c.req.json());
    if (!creation.success) return c.json({ error: 'runner_type does not have a valid value' }, 400);
    const { data } = creation;
    const ownerId = data.group_id ?? data.project_id;
    if ((ownerId === undefined) !== (data.runner_type === 'instance_type'))
      return c.json({ message: 'Failed to create runner: a group or project runner needs its owner' }, 400);
    const id = Math.max(0, ...book.runners().map((runner) => runner.id)) + 1;
    const token = `glrt-${tokenText(random)}`;
    book.addRunner({
      id,
      type: data.runner_type,
      status: 'never_contacted',
      createdBy: 1,
      token,
      tags: data.tag_list ?? [],
      ...withoutAbsent({
        description: data.description,
        runUntagged: data.run_untagged,
        maximumTimeoutSeconds: data.maximum_timeout,
        maintenanceNote: data.maintenance_note,
        ownerId,
      }),
    });
    return c.json({ id, token, token_expires_at: null }, 201);
  });
}

/** All of the tags have to be there. */
function isAsked(runner: LocalRunner, query: URLSearchParams): boolean {
  const { type = 'instance_type', status = 'online', paused = false, tags = [], managers = [] } = runner;
  const wanted = (name: string, value: string): boolean => (query.get(name) ?? value) === value;
  const prefix = query.get('version_prefix') ?? '';
  return (
    wanted('type', type) &&
    wanted('status', status) &&
    wanted('paused', String(paused)) &&
    (query.get('tag_list') ?? '').split(',').every((tag) => tag === '' || tags.includes(tag)) &&
    (prefix === '' || managers.some(({ version }) => version.startsWith(prefix)))
  );
}

const tokenText = (random: () => number): string =>
  Array.from({ length: 20 }, () => Math.floor(random() * 36).toString(36)).join('');
