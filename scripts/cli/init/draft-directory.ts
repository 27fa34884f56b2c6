import type { GitLabDirectory, GitLabGroup } from '../../../functions/core/gitlab/index.ts';
import { parseDirectory } from '../../../policies/document/parse-directory.ts';
import type { RanMonth } from './read-month.ts';
import { comment, quotedText } from './written-yaml.ts';

/** The groups of a GitLab, and the projects that ran something. */
interface DraftedPlaces {
  readonly groups: readonly (GitLabGroup & { readonly personal?: true })[];
  readonly projects: readonly { readonly id: number; readonly groupId: number; readonly path: string }[];
  /** Groups and projects that are left out: not readable, or without a group that is known. */
  readonly left: number;
}

const PAGES_MAX = 2_000;
/** Calls for projects in namespaces that are no group: mostly personal ones. */
const LOOKUPS_MAX = 500;

interface PlacesOptions {
  readonly ask: <Answer>(call: () => Promise<Answer>) => Promise<Answer>;
}

/**
 * All groups, and of the projects only those that jobs ran in: a job names its namespace itself.
 *
 * @throws {GitLabError}
 */
export async function readPlaces(
  gitlab: Pick<GitLabDirectory, 'groups' | 'project'>,
  { jobs }: RanMonth,
  { ask }: PlacesOptions,
): Promise<DraftedPlaces> {
  const listed = new Map<number, GitLabGroup>();
  let left = 0;
  let page: string | undefined;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const from = page;
    const found = await ask(() => gitlab.groups(from === undefined ? {} : { page: from }));
    for (const group of found.groups) listed.set(group.id, group);
    left += found.unreadable ?? 0;
    page = found.next;
    if (page === undefined) break;
  }
  const groups: (GitLabGroup & { personal?: true })[] = [...listed.values()].filter((group) =>
    isWhole(group, listed),
  );
  left += listed.size - groups.length;
  const idOf = new Map(groups.map(({ path, id }) => [path.toLowerCase(), id]));
  const projects = new Map<
    number,
    { readonly id: number; readonly groupId: number; readonly path: string }
  >();
  const paths = new Map(
    jobs.filter(({ path }) => path !== '').map(({ projectId, path }) => [projectId, path]),
  );
  let lookups = 0;
  for (const [id, path] of paths) {
    const namespace = path.slice(0, path.lastIndexOf('/'));
    if (!idOf.has(namespace.toLowerCase()) && lookups < LOOKUPS_MAX) {
      lookups += 1;
      const project = await ask(() => gitlab.project(id));
      const space = project?.namespace;
      if (space?.personal === true && !idOf.has(space.path.toLowerCase()) && isReadable(space.path)) {
        groups.push({ id: space.id, path: space.path, personal: true });
        idOf.set(space.path.toLowerCase(), space.id);
      }
    }
    const groupId = idOf.get(namespace.toLowerCase());
    if (groupId === undefined || !isReadable(path)) left += 1;
    else projects.set(id, { id, groupId, path });
  }
  return { groups, projects: [...projects.values()], left };
}

/** With all groups above it: one without them would look like a top-level group. */
function isWhole(group: GitLabGroup, listed: ReadonlyMap<number, GitLabGroup>): boolean {
  const above = new Set<number>();
  for (let each: GitLabGroup | undefined = group; each !== undefined; ) {
    if (above.has(each.id) || !isReadable(each.path)) return false;
    above.add(each.id);
    if (each.parentId === undefined) return true;
    each = listed.get(each.parentId);
  }
  return false;
}

const isReadable = (path: string): boolean => parseDirectory({ groups: [{ id: 1, path }], projects: [] }).ok;

export function draftDirectory({ groups, projects, left }: DraftedPlaces): string {
  const groupText = ({
    id,
    parentId,
    path,
    visibility,
    personal,
  }: DraftedPlaces['groups'][number]): string => {
    const parent = parentId === undefined ? '' : `, parent: ${parentId}`;
    const seen = visibility === undefined ? '' : `, visibility: ${visibility}`;
    return `  - { id: ${id}${parent}, path: ${quotedText(path)}${seen}${personal === true ? ', personal: true' : ''} }\n`;
  };
  const list = (name: string, lines: readonly string[]): string =>
    lines.length === 0 ? `${name}: []\n` : `${name}:\n${lines.join('')}`;
  return [
    comment(
      `Drafted by tollgate init: all ${groups.length} groups and personal namespaces, and the ${projects.length} projects that ran jobs. In a deployment the same comes from GitLab every few minutes.`,
    ),
    ...(left > 0 ? [comment(`${left} groups or projects could not be placed and are left out.`)] : []),
    '\n',
    list('groups', groups.toSorted((a, b) => a.id - b.id).map(groupText)),
    '\n',
    list(
      'projects',
      projects
        .toSorted((a, b) => a.id - b.id)
        .map(({ id, groupId, path }) => `  - { id: ${id}, group: ${groupId}, path: ${quotedText(path)} }\n`),
    ),
  ].join('');
}
