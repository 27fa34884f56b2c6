import type { GitLabError } from '../gitlab.ts';

/** The subject of a call: a status means different things in different places. */
export type AdminTopic =
  | 'access token'
  | 'metadata'
  | 'licence'
  | 'flags'
  | 'settings'
  | 'router'
  | 'controllers'
  | 'scopes'
  | 'controller tokens'
  | 'groups'
  | 'webhooks'
  | 'webhook deliveries'
  | 'runners'
  | 'projects'
  | 'pipelines';

/** GitLab did not do or say what was asked, in words, with what to do about it. */
export interface AdminRefusal {
  readonly code:
    | 'unauthorised'
    | 'forbidden'
    | 'absent'
    | 'conflict'
    | 'invalid'
    | 'rate_limited'
    | 'unavailable'
    | 'unreadable';
  /** E.g. `POST /groups/7/hooks`. */
  readonly call: string;
  /** Undefined: no answer, or one that cannot be read. */
  readonly status: number | undefined;
  readonly says: string;
  readonly remedy: string;
}

export type AdminAnswer<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly refusal: AdminRefusal };

type Words = readonly [says: string, remedy: string];

const WITHOUT_LICENCE: Words = [
  'GitLab has no runner controllers here, or none of this number',
  'they need GitLab 18.9 or newer and an Ultimate licence; if it has both, check the number of the controller',
];
const ABSENT: Partial<Record<AdminTopic, Words>> = {
  controllers: WITHOUT_LICENCE,
  scopes: [
    'GitLab knows no such controller, runner or kind of scope',
    'scopes of single runners need GitLab 18.10; check the numbers, and that the licence is Ultimate',
  ],
  'controller tokens': WITHOUT_LICENCE,
  licence: ['GitLab tells of no licence', 'runner controllers need the Enterprise Edition with Ultimate'],
  flags: ['GitLab offers no feature flags here', 'GitLab Dedicated has none to read; ask its support'],
  settings: [
    'GitLab offers no settings of the instance here',
    'GitLab.com has none to read; send a test of the webhook',
  ],
  webhooks: [
    'GitLab has no webhooks of groups here, or the group is gone',
    'they need a Premium or Ultimate licence; check that the group still exists',
  ],
  'webhook deliveries': [
    'GitLab knows no such webhook or delivery any more',
    'run tollgate gitlab setup again',
  ],
  projects: [
    'GitLab knows no such project, or hides it from this token',
    'check its path or number, and that the token may see it',
  ],
  runners: ['GitLab knows no such runner', 'check its number: tollgate fleet ls'],
  router: ['GitLab has no discovery of its job router', 'it needs GitLab 18.7 or newer'],
};
const CONFLICT: Partial<Record<AdminTopic, Words>> = {
  scopes: [
    'the controller has a scope already that excludes this one',
    'a controller has the whole instance or single runners, never both: remove one of them (glab runner-controller scope delete)',
  ],
};
const INVALID: Partial<Record<AdminTopic, Words>> = {
  scopes: [
    'GitLab takes no such runner',
    'only runners of the instance can be scoped, none of a group or project',
  ],
  webhooks: [
    'GitLab takes no such webhook',
    'check its address; for one in the local network an administrator allows "requests to the local network from webhooks"; a group has 50 webhooks at most',
  ],
  pipelines: [
    'GitLab starts no pipeline there',
    'the .gitlab-ci.yml of the default branch needs jobs for pipelines of source api: docs/platform.md has them',
  ],
  'webhook deliveries': [
    'the receiver did not answer with success, or the group has no job to send',
    'look at the webhook’s recent events in GitLab and at the log of the receiver',
  ],
};

/** A call that was made. */
export interface AdminCall {
  readonly topic: AdminTopic;
  /** E.g. `POST /groups/7/hooks`. */
  readonly call: string;
  /** The GitLab that was called. */
  readonly baseUrl: string;
}

/** Explains an answer without success. @param status - 3xx, 4xx, or 200 with a body that is not readable */
export function refusalOf(made: AdminCall, status: number): AdminRefusal {
  const [code, [says, remedy]] = wordsOf(made.topic, status);
  return { code, call: made.call, status, says: `${says} ${answer(made, status)}`, remedy };
}

const answer = ({ call, baseUrl }: AdminCall, status: number): string => `(${call} at ${baseUrl}: ${status})`;

function wordsOf(topic: AdminTopic, status: number): readonly [AdminRefusal['code'], Words] {
  if (status === 401)
    return [
      'unauthorised',
      ['GitLab does not take the token', 'it is wrong, revoked or expired: make another one'],
    ];
  if (status === 403) return ['forbidden', FORBIDDEN];
  if (status === 404 || status === 405)
    return ['absent', ABSENT[topic] ?? ['GitLab has nothing there', "check GitLab's address and version"]];
  if (status === 409)
    return ['conflict', CONFLICT[topic] ?? ['somebody else changed the same', 'run the command again']];
  if (status === 400 || status === 412 || status === 422)
    return [
      'invalid',
      INVALID[topic] ?? ['GitLab does not take what was sent', 'is this GitLab newer than Tollgate knows?'],
    ];
  if (status >= 300 && status < 400)
    return ['unreadable', ['GitLab sends elsewhere', "give the address it leads to as GitLab's own"]];
  return ['unreadable', ['the answer is not what GitLab documents', "check GitLab's address and version"]];
}

const FORBIDDEN: Words = [
  'GitLab does not let the token do this',
  "it needs an administrator's token of scope api, with admin_mode where Admin Mode is on; to look, read_api is enough",
];

/** Explains a call that failed. The message of the error names the call and the address. */
export function refusalOfFailure(made: AdminCall, error: GitLabError): AdminRefusal {
  const { code, status } = error;
  const { call } = made;
  if (code === 'gitlab_rate_limited')
    return {
      code: 'rate_limited',
      call,
      status,
      says: `GitLab asks to wait, again and again ${answer(made, 429)}`,
      remedy: 'run the command again later; GITLAB_THROTTLE_USER_ALLOWLIST frees a user of limits',
    };
  if (code === 'gitlab_unavailable' && status === 501)
    return {
      code: 'absent',
      call,
      status,
      says: `GitLab's job router is not available for this runner ${answer(made, 501)}`,
      remedy: 'switch on KAS and the flags job_router and job_router_instance_runners',
    };
  if (code === 'gitlab_unavailable')
    return {
      code: 'unavailable',
      call,
      status,
      says: error.says,
      remedy: 'run the command again: it goes on where it stopped',
    };
  if (status !== undefined && status >= 400) return refusalOf(made, status);
  return code === 'gitlab_refused'
    ? { code: 'unauthorised', call, status, says: 'the token is empty or no token', remedy: 'store it again' }
    : {
        code: 'unreadable',
        call,
        status,
        says: error.says,
        remedy: "check GitLab's address: it must be the one of the web pages, without /api/v4",
      };
}
