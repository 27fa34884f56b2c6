import { readWholeDirectory, type WholeDirectory } from '../../../functions/core/directory/index.ts';
import {
  type Directory,
  type DirectoryGroup,
  type DirectoryProject,
  pathKey,
} from '../../../policies/place/directory.ts';
import { type Command, EXIT } from '../../terminal/command.ts';
import { readFlags } from '../../terminal/flags.ts';
import { printable } from '../../terminal/paint.ts';
import { table } from '../../terminal/table.ts';
import { notInDirectory } from '../evaluation/unknown-place.ts';
import { LEDGER_FLAGS, LEDGER_FLAGS_HELP } from '../ledger/ledger-flags.ts';
import { type OpenDirectory, openDirectory, withDirectory } from './open-directory.ts';

const HELP = `tollgate directory show [<id> | <path>] [flags]

What does Tollgate know of GitLab's groups and projects? Without a word: how many, and as of when. With an id or a path:
the group or project, and the groups above it.

${LEDGER_FLAGS_HELP}
  --json               one JSON object

Exit codes: 0 told, 1 the table does not answer, nothing was synced yet, 3 wrong usage or an id
or path that is not known`;

/** No job waits for it. */
const TIMEOUT_MS = 15_000;

export const directoryShowCommandOn = (open: OpenDirectory): Command => ({
  name: 'directory show',
  summary: 'Which groups and projects does Tollgate know, and which groups are above one?',
  help: HELP,
  run: async (args, io) => {
    const { values, words } = readFlags(args, LEDGER_FLAGS, { max: 1, what: 'one id or path' });
    const whole = await withDirectory(open, values, io, (opened) =>
      readWholeDirectory(opened.table, { timeoutMs: TIMEOUT_MS }),
    );
    if (whole === undefined) {
      io.err(
        'Groups were not listed to the end yet, jobs go by the packed directory: tollgate directory sync\n',
      );
      return EXIT.failed;
    }
    const [word] = words;
    if (word === undefined) {
      const known = figures(whole);
      io.out(values.json ? `${JSON.stringify(known)}\n` : figuresText(known));
      return EXIT.ok;
    }
    const found = find(word, whole.directory);
    if (found.length === 0) {
      const { groupByPath, projectByPath } = whole.directory;
      throw notInDirectory(printable(word), word, [...groupByPath.keys(), ...projectByPath.keys()]);
    }
    io.out(values.json ? `${JSON.stringify({ found })}\n` : foundText(found, io.columns));
    return EXIT.ok;
  },
});

const figures = ({ pointer, directory }: WholeDirectory) => {
  const personal = [...directory.groupById.values()].filter((group) => group.personal).length;
  return {
    edit: pointer.edit,
    at: new Date(pointer.atMs).toISOString(),
    groups: directory.groupById.size - personal,
    personalNamespaces: personal,
    projects: directory.projectById.size,
    /** Groups with unknown parents: only their root's limits apply. */
    groupsWithoutChain: directory.groupById.size - directory.chainById.size,
  };
};

const figuresText = (known: ReturnType<typeof figures>): string => {
  const lines = [
    `As of ${known.at}, sync ${known.edit}: ${known.groups} groups, ${known.personalNamespaces} personal namespaces, ${known.projects} projects`,
  ];
  if (known.groupsWithoutChain > 0)
    lines.push(
      `${known.groupsWithoutChain} groups whose parents are not all known: not all limits apply to them`,
    );
  return `${lines.join('\n')}\n`;
};

interface Found {
  readonly kind: 'group' | 'personal namespace' | 'project';
  readonly id: number;
  readonly path: string;
  readonly visibility?: string | undefined;
  /** Root first. */
  readonly above: readonly { readonly id: number; readonly path: string }[];
}

function find(word: string, directory: Directory): readonly Found[] {
  const id = /^\d{1,15}$/.test(word) ? Number(word) : undefined;
  const key = pathKey(word);
  const group = id === undefined ? directory.groupByPath.get(key) : directory.groupById.get(id);
  const project = id === undefined ? directory.projectByPath.get(key) : directory.projectById.get(id);
  return [
    ...(group === undefined ? [] : [groupFound(group, directory)]),
    ...(project === undefined ? [] : [projectFound(project, directory)]),
  ];
}

const groupFound = (group: DirectoryGroup, directory: Directory): Found => ({
  kind: group.personal ? 'personal namespace' : 'group',
  id: group.id,
  path: group.path,
  visibility: group.visibility,
  above: chainOf(group.id, directory).slice(0, -1),
});

const projectFound = (project: DirectoryProject, directory: Directory): Found => ({
  kind: 'project',
  id: project.id,
  path: project.path,
  visibility: project.visibility,
  above: chainOf(project.groupId, directory),
});

const chainOf = (groupId: number, directory: Directory): Found['above'] =>
  (directory.chainById.get(groupId) ?? []).map(({ id, path }) => ({ id, path }));

function foundText(found: readonly Found[], columns: number): string {
  const rows = found.flatMap(({ kind, id, path, visibility, above }) => [
    ...above.map((group) => ['above', String(group.id), '', printable(group.path)]),
    [kind, String(id), visibility ?? '', printable(path)],
  ]);
  const titles = [
    { title: '' },
    { title: 'id', align: 'right' as const },
    { title: 'visibility' },
    { title: 'path' },
  ];
  return table(titles, rows, columns);
}

export const directoryShowCommand: Command = directoryShowCommandOn(openDirectory);
