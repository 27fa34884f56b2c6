/** Visits by signed links. A link gives no rights and decides nothing; a changed link is refused. */
import type { RequestRow } from '../../../answers/limits/edit-models.ts';
import { type PageContext, type PagesDeps, send } from '../pages-deps.ts';
import { type Problem, problemPage } from '../problem-page.tsx';

export const LINK_CHARACTERS_MAX = 500;

type Fault = 'altered' | 'expired' | 'used' | 'another' | 'unchecked';

/** Undefined: go on, there is no link, or it is good. Each refusal is logged with who came, never with the link. */
export async function refusedLink(
  c: PageContext,
  deps: PagesDeps,
  row: RequestRow | undefined,
  link: string | undefined,
): Promise<Response | undefined> {
  if (!link) return undefined;
  const { user } = c.var;
  const request = c.req.param('id') ?? '';
  const fault = await faultOf(link, request, row, user.roles, deps);
  if (fault === undefined) return undefined;
  deps.log.warn('approval link refused', { request, fault, user: user.id });
  return send(c, problemPage(user, PROBLEMS[fault]), STATUS[fault]);
}

async function faultOf(
  link: string,
  request: string,
  row: RequestRow | undefined,
  roles: PageContext['var']['user']['roles'],
  { checkApproval, log }: PagesDeps,
): Promise<Fault | undefined> {
  if (checkApproval === undefined) return 'altered';
  let read: Awaited<ReturnType<typeof checkApproval>>;
  try {
    read = await checkApproval(link, request);
  } catch (error) {
    log.error('approval key not read', { error: error instanceof Error ? error.name : '' });
    return 'unchecked';
  }
  if (read.outcome !== 'valid') return read.outcome;
  if (read.role === 'finance' && !roles.finance && !roles.admin) return 'another';
  return row !== undefined && row.state !== 'pending' ? 'used' : undefined;
}

const STATUS = { altered: 403, another: 403, expired: 410, used: 409, unchecked: 503 } as const;
const LINK = { href: '/requests', text: 'To the requests' } as const;
const REMEDY = 'Requests that wait for you are under “Requests”.';

const PROBLEMS: Readonly<Record<Fault, Problem>> = {
  altered: {
    title: 'This link does not work',
    sentence: 'It is not as it was sent, or it is about another request.',
    remedy: REMEDY,
    link: LINK,
  },
  another: {
    title: 'This link is not yours',
    sentence: 'It was sent to finance, and you are not of finance.',
    remedy: REMEDY,
    link: LINK,
  },
  expired: {
    title: 'This link has expired',
    sentence: 'A link is good for a week.',
    remedy: REMEDY,
    link: LINK,
  },
  used: {
    title: 'Decided already',
    sentence: 'A link works once, and the request it is about has been decided.',
    remedy: 'Nothing was changed by you. What became of it stands under “Requests”.',
    link: LINK,
  },
  unchecked: {
    title: 'Not checked',
    sentence: 'This link could not be checked just now.',
    remedy: 'Try it again in a minute, or decide under “Requests”.',
    link: LINK,
  },
};
