/** Users of this machine's console: a GitLab without passwords, with one user for each role. */
import type { Directory } from '../../../policies/place/directory.ts';
import { type GitLabUser, startSignInGitLab } from './sign-in-gitlab.ts';

/** Ids of groups outside of any directory here. */
const ADMINS = 7;
const FINANCE = 8;
const DEVELOPER = 30;
const MAINTAINER = 40;
/** The group with the small budget in policies/limits.yaml. */
const OWNED_GROUP = 101;

/** @param redirectUrl - the console's address for users who have signed in. */
export async function openLocalSignIn(redirectUrl: string, directory: Directory | undefined) {
  const group = ownedGroup(directory);
  const member = (level: number) =>
    group === undefined ? [] : [{ groupId: group.id, path: group.path, level }];
  const people: readonly GitLabUser[] = [
    {
      ...{ id: 41, username: 'fiona-finance', name: 'Fiona Finance' },
      memberships: [{ groupId: FINANCE, path: 'finance', level: DEVELOPER }],
    },
    { id: 42, username: 'olaf-owner', name: 'Olaf Owner', memberships: member(MAINTAINER) },
    { id: 43, username: 'dana-developer', name: 'Dana Developer', memberships: member(DEVELOPER) },
    {
      ...{ id: 44, username: 'ada-admin', name: 'Ada Admin' },
      memberships: [{ groupId: ADMINS, path: 'tollgate-admins', level: DEVELOPER }],
    },
    { id: 45, username: 'sam-stranger', name: 'Sam Stranger', memberships: [] },
  ];
  return {
    gitlab: await startSignInGitLab({
      redirectUrl,
      users: people,
      asksEachTime: true,
    }),
    roles: { adminGroupId: ADMINS, financeGroupId: FINANCE },
    people,
  };
}

/** Prefers a subgroup: its owner then sees less than everything. */
function ownedGroup(directory: Directory | undefined) {
  const groups = [...(directory?.groupById.values() ?? [])].filter(({ personal }) => !personal);
  return (
    groups.find(({ id }) => id === OWNED_GROUP) ??
    groups.find(({ parentId }) => parentId !== undefined) ??
    groups[0]
  );
}

export type LocalSignIn = Awaited<ReturnType<typeof openLocalSignIn>>;
