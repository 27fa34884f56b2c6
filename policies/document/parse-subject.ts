import { subjectKey } from '../limits/levels.ts';
import { isRecord, type Reading } from './reading.ts';

const KEYS = ['group', 'project', 'runner_class', 'runner', 'user'] as const;

/** Reads `instance`, `{group: 101}`, `{project: 7}`, `{runner_class: large}`, `{runner: 41}` or `{user: 5}` into a subject's key. */
export function readSubject(reading: Reading, runnerClasses: readonly string[]): string | undefined {
  if (reading.value === 'instance') return subjectKey({ kind: 'instance' });
  if (!isRecord(reading.value)) {
    return reading.expected(
      'instance, {group: 101}, {project: 7}, {runner_class: large}, {runner: 41} or {user: 5}',
    );
  }
  if (!reading.object(KEYS)) return undefined;
  const [key, ...more] = KEYS.filter((each) => reading.at(each).isThere);
  if (key === undefined || more.length > 0) return reading.expected(`exactly one of ${KEYS.join(', ')}`);
  if (key === 'runner_class') {
    const name = reading.at(key).oneOf('a runner class of the policy', runnerClasses);
    return name === undefined ? undefined : subjectKey({ kind: 'runner-class', name });
  }
  const id = reading.at(key).integer(`GitLab's id of the ${key}`, 1);
  return id === undefined ? undefined : subjectKey({ kind: key, id });
}
