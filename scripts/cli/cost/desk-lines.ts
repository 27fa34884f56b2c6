import * as assumed from './assumptions.ts';
import type { VisitUnits } from './desk-units.ts';
import type { CostLine } from './line.ts';
import type { PriceName } from './prices.ts';
import { type DeploymentShape, FUNCTION_MIB } from './shape.ts';

const GIGA = 1_000_000_000;

/** Cost of this many visits a month. The function's address is free. */
export function deskLines(
  visit: VisitUnits,
  visits: number,
  { cdn, traces }: DeploymentShape,
): readonly CostLine[] {
  const desk = (label: string, ofVisit: number, price: PriceName): CostLine => ({
    part: 'desk',
    label,
    quantity: ofVisit * visits,
    price,
  });
  const { requests, readUnits, writeUnits, answerBytes } = visit;
  const pagesGb = (answerBytes + requests * assumed.CONSOLE_HEADER_BYTES) / GIGA;
  const billedMs = assumed.CONSOLE_START_MS + requests * assumed.BILLED_MS.console;
  return [
    desk('Console, reads', readUnits, 'readUnit'),
    desk('Sessions, writes', writeUnits, 'writeUnit'),
    desk('Lambda console, requests', requests, 'lambdaRequest'),
    desk('Lambda console, duration', (FUNCTION_MIB.console / 1024) * (billedMs / 1000), 'lambdaDuration'),
    // Transfer from functions to CloudFront is free.
    ...(cdn === true
      ? [
          desk('CloudFront, requests', requests, 'cdnRequest'),
          desk('CloudFront, data out', pagesGb, 'cdnDataOut'),
        ]
      : [desk('Pages, data out', pagesGb, 'dataOut')]),
    ...(traces === true ? [desk('Traces of the console, at most', requests, 'trace')] : []),
  ];
}
