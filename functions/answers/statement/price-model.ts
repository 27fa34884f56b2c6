import { count, instantMs, list, text, z } from '../reading/schema.ts';

export const DeployedPricesSchema = z
  .object({
    handoverMs: count(
      'For so long before and after a change jobs may have been priced by either: deployments take a while.',
    ),
    changes: list(
      z.object({
        number: count('1, 2, 3 …; none is left out.'),
        seenAtMs: instantMs('When these prices were first seen to be deployed. Unix ms.'),
        policyVersion: text('Of the policy document that brought them.'),
        editionSha256: text('Of the text of the prices.'),
        previousSha256: text('Of the change before; empty: this is the first.'),
        text: text('What is hashed: the five above as JSON, in alphabetical order.'),
        sha256: text(),
      }),
    ).openapi({ description: 'All that ever were, in their order.' }),
    editions: list(
      z.object({
        sha256: text(),
        text: text('`currency` and `prices` of the policy document, as JSON.'),
      }),
    ).openapi({ description: 'The prices that counted in the span; one that is gone is missing.' }),
  })
  .openapi('DeployedPrices', { description: 'Since when which prices counted.' });

export type DeployedPrices = z.infer<typeof DeployedPricesSchema>;
