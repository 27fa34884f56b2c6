import type { Rights, RoleName } from '../../core/limits/desk/role.ts';

export interface Me {
  readonly id: number;
  readonly username: string;
  readonly name: string;
  readonly rights: Rights;
  /** Names of `rights`, strongest first; empty: signed in, and may do nothing but see this. */
  readonly roles: readonly RoleName[];
  /** Sees the whole instance. */
  readonly seesAll: boolean;
  /** Topmost groups they see, by path; at most 200. Empty for who sees all. */
  readonly groups: readonly {
    readonly id: number;
    readonly path: string;
    readonly role: 'owner' | 'viewer';
  }[];
  /** ISO 4217. */
  readonly currency: string;
  /** Decisions they may take on others' requests that are waiting. */
  readonly waiting: number;
}
