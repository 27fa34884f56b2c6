import { IMAGE_KEYS, readImageJudge } from '../images/image-judge.ts';
import type { ImageReason } from '../images/image-text.ts';
import type { FieldMissingReason, StatelessRuleKind } from './rule-kind.ts';

const IMAGE_MISSING: readonly FieldMissingReason[] = [{ code: 'FIELD_MISSING', field: 'image' }];

export const image: StatelessRuleKind<ImageReason> = {
  class: 'security',
  keys: IMAGE_KEYS,
  read(reading) {
    const judge = readImageJudge(reading, 'image');
    if (judge === undefined)
      reading.refuse('has nothing to check; expected allow, deny, tags or docker_in_docker: false');
    return ({ request }) => (request.image === undefined ? IMAGE_MISSING : (judge?.(request.image) ?? []));
  },
};
