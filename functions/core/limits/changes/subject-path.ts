import type { Directory } from '../../../../policies/place/directory.ts';

/** What people call a subject: the full path of a group or project, the name of a class; undefined: not known. */
export function subjectPath(subject: string, directory: Directory | undefined): string | undefined {
  const slash = subject.indexOf('/');
  const [kind, name] = [subject.slice(0, slash), subject.slice(slash + 1)];
  switch (kind) {
    case 'group':
      return directory?.groupById.get(Number(name))?.path;
    case 'project':
      return directory?.projectById.get(Number(name))?.path;
    case 'runner-class':
    case 'groups':
      return name;
    default:
      return undefined;
  }
}
