/** GitLab's REST API of notes on merge requests. */
import type { Hono } from 'hono';
import { listPage } from '../../scripts/local/gitlab/instance.ts';

export interface LocalNote {
  readonly id: number;
  readonly authorId: number;
  /** `<project>!<iid>`. */
  readonly place: string;
  body: string;
}

export const NOTE_USER_ID = 1;
const LIST = '/projects/:projectId/merge_requests/:iid/notes';

export function noteRoutes(app: Hono, notes: LocalNote[]): void {
  let lastId = 0;
  const entity = ({ id, body, authorId }: LocalNote): object => ({ id, body, author: { id: authorId } });
  const placeOf = ({ projectId, iid }: { projectId: string; iid: string }): string => `${projectId}!${iid}`;

  app.get('/user', (c) => c.json({ id: NOTE_USER_ID, username: 'project_42_bot' }));

  app.get(LIST, (c) => {
    const here = notes.filter(({ place }) => place === placeOf(c.req.param()));
    return listPage(c, here, entity);
  });

  app.post(LIST, async (c) => {
    const { body } = await c.req.json<{ body: string }>();
    lastId = Math.max(lastId, ...notes.map(({ id }) => id)) + 1;
    const note = { id: lastId, authorId: NOTE_USER_ID, place: placeOf(c.req.param()), body };
    notes.push(note);
    return c.json(entity(note), 201);
  });

  app.on(['PUT', 'DELETE'], `${LIST}/:noteId`, async (c) => {
    const at = notes.findIndex(({ id }) => id === Number(c.req.param('noteId')));
    const note = notes[at];
    if (note === undefined) return c.json({ message: '404 Note Not Found' }, 404);
    if (note.authorId !== NOTE_USER_ID) return c.json({ message: '403 Forbidden' }, 403);
    if (c.req.method === 'DELETE') {
      notes.splice(at, 1);
      return c.body(null, 204);
    }
    note.body = (await c.req.json<{ body: string }>()).body;
    return c.json(entity(note));
  });
}
