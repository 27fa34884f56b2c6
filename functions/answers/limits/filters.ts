/** Words of questions about limits: light, so that a command loads no schema for its flags. */
import { writtenSubject } from '../../core/limits/subject-text.ts';

/** Kind of a limit's subject; `cap`: each pipeline, user, … of a group or project. */
const PLACES = ['instance', 'group', 'project', 'runner-class', 'runner', 'user'] as const;
export const SUBJECT_KINDS = [...PLACES, 'cap'] as const;

export type SubjectKind = (typeof SUBJECT_KINDS)[number];

/** `risk`: refusing, used up, soonest to run out, then by share; `fullest`: by share; `name`: by path. */
export const BUDGET_ORDERS = ['risk', 'fullest', 'name'] as const;

/** `used-up`: nothing is left; `runs-out`: that, or it refuses jobs or runs out before the period ends. */
export const RISK_FILTERS = ['used-up', 'runs-out'] as const;

export const isSubject = (text: string): boolean => writtenSubject(text) !== undefined;
