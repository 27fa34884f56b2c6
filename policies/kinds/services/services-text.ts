import type { ReasonText } from '../../text/reason-text.ts';

export interface ServiceLimit {
  readonly code: 'SERVICE_LIMIT';
  readonly services: number;
  readonly servicesMax: number;
}

export const serviceLimit: ReasonText<ServiceLimit> = {
  headline: ({ services, servicesMax }) =>
    servicesMax === 0
      ? `This job has ${servicesText(services)}; none are allowed here.`
      : `This job has ${servicesText(services)}; at most ${servicesMax} ${servicesMax === 1 ? 'is' : 'are'} allowed here.`,
  discreetHeadline: () => 'This job has more services than are allowed here.',
  line: ({ services, servicesMax }) => `${servicesText(services)}, at most ${servicesMax}`,
  advice: () => [
    'Retrying will fail again. Remove services from the job; "default:" and "extends:" may bring some, too.',
  ],
  faultless: false,
};

const servicesText = (services: number): string => (services === 1 ? '1 service' : `${services} services`);
