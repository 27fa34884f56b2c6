import { z } from 'zod';
import { GitLabError } from './gitlab.ts';
import {
  nextPage,
  pageQuery,
  type RestCallDeps,
  readFound,
  readList,
  restCall,
  restChange,
} from './rest-call.ts';

/** One note of a merge request, and which writing of it. */
export interface OwnNote {
  readonly projectId: number | string;
  readonly mergeRequestIid: number | string;
  /** Subject in a hidden marker: `check, pipeline`. A merge request has one note per subject. */
  readonly about: string;
  /** The highest version wins, in any order of writes. */
  readonly version: number;
}

/** 5,000 notes. Beyond them ours might be missed, and a second one made. */
const PAGES_MAX = 50;
/** Each round but the last changes something; two concurrent runs need three. */
const ROUNDS_MAX = 5;
const CHANGE_TIMEOUT_MS = 5_000;
const VERSION = /^(\d{1,15}) -->\n/;

interface FoundNote {
  readonly id: number;
  readonly body: string;
  readonly version: number;
}

const USER = z.object({ id: z.number().int() });
const NOTE = z.object({ id: z.number().int(), body: z.string(), author: USER });

/**
 * Keeps one note of the token's user in a merge request, found by a hidden marker. It reads again after
 * every change: if two programs created a note, both keep the older one with the highest version's text and
 * delete the other.
 *
 * @throws {GitLabError} The note may be outdated.
 */
export async function keepNote(text: string, note: OwnNote, deps: RestCallDeps): Promise<void> {
  const { projectId, mergeRequestIid, about, version } = note;
  const path = `/projects/${encodeURIComponent(projectId)}/merge_requests/${encodeURIComponent(mergeRequestIid)}/notes`;
  const marker = `<!-- tollgate ${about} `;
  const mine = { body: `${marker}${version} -->\n${text.trimEnd()}`, version };
  const user = USER.safeParse(readFound('/user', await restCall('/user', new URLSearchParams(), deps)));
  if (!user.success) throw new GitLabError('gitlab_unreadable', 'GET /user: the answer names no user');
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const [kept, ...spare] = await notesOf(user.data.id, marker, path, deps);
    if (kept === undefined) {
      const { status } = await restChange('POST', path, { body: mine.body }, CHANGE_TIMEOUT_MS, deps);
      if (status !== 201)
        throw new GitLabError('gitlab_unreadable', `POST ${path}: GitLab answered ${status}`, { status });
      continue;
    }
    const newest = [kept, ...spare].reduce<Pick<FoundNote, 'body' | 'version'>>(
      (best, each) => (each.version > best.version ? each : best),
      mine,
    );
    if (spare.length === 0 && kept.body === newest.body) return;
    // A note that another program deleted meanwhile answers 404, and the next round sees what is there.
    if (kept.body !== newest.body)
      await restChange('PUT', `${path}/${kept.id}`, { body: newest.body }, CHANGE_TIMEOUT_MS, deps);
    for (const { id } of spare)
      await restChange('DELETE', `${path}/${id}`, undefined, CHANGE_TIMEOUT_MS, deps);
  }
}

/** Lists own notes, oldest first. Markers in other users' notes are ignored. */
async function notesOf(
  userId: number,
  marker: string,
  path: string,
  deps: RestCallDeps,
): Promise<readonly FoundNote[]> {
  const own: FoundNote[] = [];
  let page: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const asked = { sort: 'asc', order_by: 'created_at' };
    const answer = await restCall(path, pageQuery(asked, page), deps);
    for (const entry of readList(path, answer)) {
      const note = NOTE.safeParse(entry);
      if (!note.success || note.data.author.id !== userId || !note.data.body.startsWith(marker)) continue;
      const { id, body } = note.data;
      const [, version] = VERSION.exec(body.slice(marker.length)) ?? [];
      if (version !== undefined) own.push({ id, body, version: Number(version) });
    }
    page = nextPage(answer.headers);
    if (page === undefined) return own.toSorted((a, b) => a.id - b.id);
  }
  throw new GitLabError('gitlab_unreadable', `GET ${path}: more than ${PAGES_MAX} pages of notes`);
}
