/** Users are kept by their ids, and people read names: GitLab is asked for those that are shown. */
import type { UserNames } from '../../core/gitlab/index.ts';

const USER = /^user (\d{1,15})$/;
const GONE = 'a user GitLab does not know';

/**
 * `user 7` → `anna`; other labels stay. Without GitLab's answer, a user stays a number.
 *
 * @param userNames - absent: GitLab cannot be asked
 */
export async function userLabels(
  labels: readonly string[],
  userNames: UserNames | undefined,
): Promise<(label: string) => string> {
  const ids = labels.flatMap((label) => idIn(label) ?? []);
  if (userNames === undefined || ids.length === 0) return (label) => label;
  const names = await userNames([...new Set(ids)]);
  return (label) => {
    const id = idIn(label);
    const name = id === undefined ? undefined : names.get(id);
    return name === undefined ? label : name === '' ? GONE : name;
  };
}

function idIn(label: string): number | undefined {
  const [, id] = USER.exec(label) ?? [];
  return id === undefined ? undefined : Number(id);
}
