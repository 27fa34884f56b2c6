import type { Unit } from '../../../../policies/units/unit.ts';

export type Effect = 'tightens' | 'loosens' | 'neutral';

/** One field that differs. A limit that came or went has one row for each of its fields. */
export interface ChangeRow {
  readonly about: ChangeTopic;
  /** `instance` for what holds for the whole document. */
  readonly subject: string;
  /** Full path of the group or project, or name of the class, where one is known. */
  readonly path?: string;
  /** The limit's id. A grant has that of its limit, a freeze or break-glass its own, a rollout the class of rule. */
  readonly limit: string;
  /** The grant's, if it has one. */
  readonly id?: string;
  /** `amount`, `soft`, `mode` … as limits.yaml has them. */
  readonly field: string;
  /** `null`: nothing there. Numbers are whole units of `unit`, everything else is text. */
  readonly from: FieldValue;
  readonly to: FieldValue;
  readonly unit?: Unit;
  /** IANA zone in which the days of `from` and `until` are meant. Absent: UTC. */
  readonly zone?: string;
  readonly effect: Effect;
  /** All of it is new, or all of it goes. */
  readonly whole?: 'added' | 'removed';
}

export type ChangeTopic = 'limit' | 'grant' | 'freeze' | 'breakglass' | 'rollout' | 'document';

export type FieldValue = number | string | null;

/** Keyed by name, in display order; absent fields are left out. */
export type Fields = ReadonlyMap<string, number | string>;
