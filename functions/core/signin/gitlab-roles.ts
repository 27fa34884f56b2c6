import { z } from 'zod';
import { GitLabError } from '../gitlab/gitlab.ts';
import { checkBaseUrl, type RestCallDeps, readOne, readWhole } from '../gitlab/rest-call.ts';
import { type Account, type RoleSource, type Roles, SignInError } from './model.ts';

export interface RoleSettings {
  /** Direct members of this group, from Guest upwards, are admins of Tollgate. Absent: no admins. */
  readonly adminGroupId?: number;
  readonly financeGroupId?: number;
  readonly ownersFrom?: 'maintainer' | 'owner';
  /** Guests may be customers. @default 'developer' (and above) */
  readonly viewersFrom?: 'guest' | 'reporter' | 'developer';
}

const LEVELS = { guest: 10, reporter: 20, developer: 30, maintainer: 40, owner: 50 } as const;
const TIMEOUT_MS = 2_000;
const DEADLINE_MS = 6_000;
/** 100 groups each. 2 000 ids are some 20 KB of session; memberships are direct, so a person has far fewer. */
const PAGES_MAX = 20;

const MembershipAnswer = z.object({
  source_type: z.string(),
  source_id: z.int().positive(),
  access_level: z.number(),
});
type Membership = z.output<typeof MembershipAnswer>;

const UserAnswer = z.object({
  username: z.string(),
  state: z.string(),
  name: z.string().optional().catch(undefined),
});

/**
 * Reads a user's direct memberships with Tollgate's token (`read_api`, an administrator's). The claims of the sign-in contain paths, and
 * a user who takes the path of a deleted group would get its rights; the user's own token would have to be stored.
 *
 * @see https://docs.gitlab.com/api/users/#list-all-memberships-for-a-user
 */
export function gitlabRoles(settings: RoleSettings, restDeps: RestCallDeps): RoleSource {
  checkBaseUrl(restDeps.baseUrl);
  const deps = { timeoutMs: TIMEOUT_MS, deadlineMs: DEADLINE_MS, ...restDeps, pagesMax: PAGES_MAX };

  const readMemberships = async (userId: number): Promise<readonly Membership[]> => {
    const fields = { type: 'Namespace' };
    const found = await readWhole(`/users/${userId}/memberships`, fields, MembershipAnswer, deps);
    if (found !== undefined) return found.filter(({ source_type }) => source_type === 'Namespace');
    throw new SignInError(
      'user_refused',
      `You are a direct member of more than ${PAGES_MAX * 100} groups in GitLab, more than a session can carry.`,
      'Ask for one membership of a group above them instead.',
    );
  };

  const read = async (userId: number): Promise<Account | undefined> => {
    const user = await readOne(`/users/${userId}`, UserAnswer, deps);
    if (user?.state !== 'active') return undefined;
    const { username, name } = user;
    const roles = toRoles(await readMemberships(userId), settings);
    return { username, name: name ?? username, roles };
  };

  return {
    read: (userId) =>
      read(userId).catch((error: unknown) => {
        if (!(error instanceof GitLabError)) throw error;
        throw new SignInError(
          'gitlab_unavailable',
          `GitLab did not say which groups you are in (${error.code}).`,
          'Try again in a minute. If that does not help, contact the Tollgate team.',
        );
      }),
  };
}

function toRoles(memberships: readonly Membership[], settings: RoleSettings): Roles {
  const { adminGroupId, financeGroupId, ownersFrom = 'maintainer', viewersFrom = 'developer' } = settings;
  const atLeast = (level: number): number[] =>
    memberships
      .filter((one) => one.access_level >= level)
      .map((one) => one.source_id)
      .sort((a, b) => a - b);
  const members = atLeast(LEVELS.guest);
  return {
    admin: adminGroupId !== undefined && members.includes(adminGroupId),
    finance: financeGroupId !== undefined && members.includes(financeGroupId),
    ownedGroupIds: atLeast(LEVELS[ownersFrom]),
    viewerGroupIds: atLeast(LEVELS[viewersFrom]),
  };
}
