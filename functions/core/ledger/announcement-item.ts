import type { Item } from '../store/item-bytes.ts';
import { versioned } from '../store/item-version.ts';
import type { LedgerKeys } from '../store/keys.ts';
import { PK, SK, TTL_ATTRIBUTE } from '../store/table.ts';
import type { Announcement } from './store.ts';

/** Two keys, the version and a time: DynamoDB removes it when that has passed, hours late at worst. */
export function announcementItem(announcement: Announcement, keys: LedgerKeys): Item {
  const { pk, sk } = keys.announcement(announcement.key);
  return {
    [PK]: { S: pk },
    [SK]: { S: sk },
    ...versioned,
    [TTL_ATTRIBUTE]: { N: String(seconds(announcement.untilMs)) },
  };
}

export const seconds = (ms: number): number => Math.ceil(ms / 1000);
