import {
  type Directory,
  type DirectoryGroup,
  type DirectoryProject,
  GROUP_LEVELS_MAX,
  indexDirectory,
  pathKey,
} from '../directory.ts';
import { gitlabId, readBoolean, word } from './parse-entry.ts';
import { type DocumentProblem, type ParseResult, type Read, Reading } from './reading.ts';

const ENTRIES_MAX = 1_000_000;
const PATH = /^[\p{L}\p{N}_][\p{L}\p{N}_.+-]*(\/[\p{L}\p{N}_][\p{L}\p{N}_.+-]*)*$/u;
const PATH_CHARACTERS_MAX = 4_096;
const KNOWN_GROUP = 'the id of a group in this file';

const readPath: Read<string> = (reading) =>
  reading.text(
    'a full path such as acme/payments',
    (text) => text.length <= PATH_CHARACTERS_MAX && PATH.test(text),
  );
const readVisibility = word('a visibility', ['private', 'internal', 'public']);

export function parseDirectory(document: unknown): ParseResult<Directory, DocumentProblem> {
  const reading = Reading.of(document);
  if (!reading.object(['groups', 'projects'])) return reading.result<Directory>(undefined);
  const groupsById = new Map<number, Reading>();
  const projectsById = new Map<number, Reading>();
  const paths = new Map<string, Reading>();
  const groups = readEach(reading.at('groups'), 'groups', groupsById, paths, readGroup);
  const projects = readEach(reading.at('projects'), 'projects', projectsById, paths, readProject);
  for (const { id, parentId } of groups)
    if (parentId !== undefined && !groupsById.has(parentId))
      groupsById.get(id)?.at('parent').expected(KNOWN_GROUP);
  for (const { id, groupId } of projects)
    if (!groupsById.has(groupId)) projectsById.get(id)?.at('group').expected(KNOWN_GROUP);
  const directory = indexDirectory(groups, projects);
  const lost = groups.find(({ id }) => !directory.chainById.has(id));
  if (lost !== undefined && reading.problems.length === 0)
    groupsById
      .get(lost.id)
      ?.at('parent')
      .expected(`parents without a ring, at most ${GROUP_LEVELS_MAX} levels`);
  return reading.result(directory);
}

function readEach<Entry extends { readonly id: number; readonly path: string }>(
  list: Reading,
  what: string,
  byId: Map<number, Reading>,
  byPath: Map<string, Reading>,
  read: Read<Entry>,
): readonly Entry[] {
  return list.each(what, ENTRIES_MAX, (reading) => {
    const entry = read(reading);
    if (entry === undefined) return undefined;
    if (byId.has(entry.id)) reading.at('id').expected('an id that no other entry has');
    if (byPath.has(pathKey(entry.path))) reading.at('path').expected('a path that no other entry has');
    byId.set(entry.id, reading);
    byPath.set(pathKey(entry.path), reading);
    return entry;
  });
}

function readGroup(reading: Reading): DirectoryGroup | undefined {
  const group = reading.fields(
    { id: gitlabId('group'), path: readPath },
    { parentId: gitlabId('parent group'), visibility: readVisibility, personal: readBoolean },
  );
  return group && { personal: false, ...group };
}

const readProject: Read<DirectoryProject> = (reading) =>
  reading.fields(
    { id: gitlabId('project'), groupId: gitlabId("project's group"), path: readPath },
    { visibility: readVisibility },
  );
