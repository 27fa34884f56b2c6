import { IMAGE_KEYS, readImageJudge } from '../images/image-judge.ts';
import type { ImageReason } from '../images/image-text.ts';
import type { ReasonText } from '../text/reason-text.ts';
import type { FieldMissingReason, StatelessRuleKind } from './rule-kind.ts';

const SERVICES_MAX = 100;
const REASONS_MAX = 5;

export const services: StatelessRuleKind<ImageReason | ServiceLimit> = {
  class: 'security',
  keys: [...IMAGE_KEYS, 'max'],
  read(reading) {
    // Absent services look like none in GitLab's wire format.
    const judge = readImageJudge(reading, 'service');
    const max = reading.optional('max', (each) =>
      each.integer(`the number of services, from 0 to ${SERVICES_MAX}`, 0, SERVICES_MAX),
    );
    if (judge === undefined && !reading.at('max').isThere)
      reading.refuse('has nothing to check; expected allow, deny, tags, max or docker_in_docker: false');
    return ({ request: { services: asked = [] } }) => {
      const reasons: (ImageReason | ServiceLimit | FieldMissingReason)[] = [];
      // Comes first, so that the list of wrong images cannot hide it.
      if (max !== undefined && asked.length > max)
        reasons.push({ code: 'SERVICE_LIMIT', services: asked.length, servicesMax: max });
      for (const image of new Set(asked.map(({ name }) => name))) {
        if (reasons.length >= REASONS_MAX) break;
        reasons.push(...(judge?.(image) ?? []));
      }
      return reasons.slice(0, REASONS_MAX);
    };
  },
  alsoReads: 'services',
};

export interface ServiceLimit {
  readonly code: 'SERVICE_LIMIT';
  readonly services: number;
  readonly servicesMax: number;
}

export const serviceLimit: ReasonText<ServiceLimit> = {
  headline: ({ services, servicesMax }) =>
    `This job has ${servicesText(services)}; allowed here: at most ${servicesMax}.`,
  discreetHeadline: () => 'This job has more services than are allowed here.',
  line: ({ services, servicesMax }) => `${servicesText(services)}, at most ${servicesMax}`,
  advice: () => [
    'Retrying will fail again. Remove services from the job; "default:" and "extends:" may bring some, too.',
  ],
};

const servicesText = (services: number): string => (services === 1 ? '1 service' : `${services} services`);
