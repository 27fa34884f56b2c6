import { z } from 'zod';
import {
  GitLabError,
  pageEnd,
  pageQuery,
  type RestCallDeps,
  readFound,
  readList,
  restCall,
  restChange,
} from '../../../functions/core/gitlab/index.ts';

/** Which run of which merge request speaks. */
interface NoteAuthor {
  readonly projectId: string;
  readonly mergeRequestIid: string;
  /** A run of a newer pipeline has the last word. */
  readonly pipelineId: number;
}

/** 5,000 notes. Beyond them ours might be missed, and a second one made. */
const PAGES_MAX = 50;
/** Every round but the last changes something; two runs at once need three. */
const ROUNDS_MAX = 5;
const CHANGE_TIMEOUT_MS = 5_000;
const MARKER = /^<!-- tollgate check, pipeline (\d{1,15}) -->\n/;

interface OwnNote {
  readonly id: number;
  readonly body: string;
  readonly pipelineId: number;
}

const USER = z.object({ id: z.number().int() });
const NOTE = z.object({ id: z.number().int(), body: z.string(), author: USER });

/**
 * Keeps one note of the token's own user in a merge request, found by a hidden marker. It looks again after every change: where
 * two runs made a note at once, both keep the older one with the text of the newer pipeline and delete the other.
 *
 * @throws {GitLabError} The note may or may not be up to date.
 */
export async function keepNote(text: string, run: NoteAuthor, deps: RestCallDeps): Promise<void> {
  const path = `/projects/${encodeURIComponent(run.projectId)}/merge_requests/${encodeURIComponent(run.mergeRequestIid)}/notes`;
  const body = `<!-- tollgate check, pipeline ${run.pipelineId} -->\n${text.trimEnd()}`;
  const mine = { body, pipelineId: run.pipelineId };
  const user = USER.safeParse(readFound('/user', await restCall('/user', new URLSearchParams(), deps)));
  if (!user.success) throw new GitLabError('gitlab_unreadable', 'GET /user: the answer names no user');
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const [kept, ...spare] = await ownNotes(path, user.data.id, deps);
    if (kept === undefined) {
      const { status } = await restChange('POST', path, { body }, CHANGE_TIMEOUT_MS, deps);
      if (status !== 201)
        throw new GitLabError('gitlab_unreadable', `POST ${path}: GitLab answered ${status}`, { status });
      continue;
    }
    const newest = [kept, ...spare].reduce<Pick<OwnNote, 'body' | 'pipelineId'>>(
      (best, each) => (each.pipelineId > best.pipelineId ? each : best),
      mine,
    );
    if (spare.length === 0 && kept.body === newest.body) return;
    // A note that another run deleted meanwhile answers 404, and the next round sees what is there.
    if (kept.body !== newest.body)
      await restChange('PUT', `${path}/${kept.id}`, { body: newest.body }, CHANGE_TIMEOUT_MS, deps);
    for (const { id } of spare)
      await restChange('DELETE', `${path}/${id}`, undefined, CHANGE_TIMEOUT_MS, deps);
  }
}

/** The oldest first. A marker in somebody else's note is not ours. */
async function ownNotes(path: string, userId: number, deps: RestCallDeps): Promise<readonly OwnNote[]> {
  const own: OwnNote[] = [];
  let page: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const asked = { sort: 'asc', order_by: 'created_at' };
    const answer = await restCall(path, pageQuery(asked, page), deps);
    for (const entry of readList(path, answer)) {
      const note = NOTE.safeParse(entry);
      const [, pipeline] = (note.success && MARKER.exec(note.data.body)) || [];
      if (!note.success || pipeline === undefined || note.data.author.id !== userId) continue;
      own.push({ id: note.data.id, body: note.data.body, pipelineId: Number(pipeline) });
    }
    page = pageEnd(0, answer.headers).next;
    if (page === undefined) return own.toSorted((a, b) => a.id - b.id);
  }
  throw new GitLabError('gitlab_unreadable', `GET ${path}: more than ${PAGES_MAX} pages of notes`);
}
