import { countPlace, valueAt } from './between.ts';
import { type DeskCosts, MEASURED_COSTS } from './measured-costs.ts';
import { PARAMETERS_PER_CALL } from './shape.ts';

/** One person who looks at budgets, from the sign-in on. */
export interface VisitUnits {
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly requests: number;
  /** Headers are not in it. */
  readonly answerBytes: number;
}

export interface DeskUnits {
  readonly visit: VisitUnits;
  /** A run of the notices without changes. */
  readonly noticesRun: { readonly readUnits: number };
  /** A scheduled import from Parameter Store when nothing changed. It writes nothing. */
  readonly parameterRun: {
    readonly readUnits: number;
    readonly calls: number;
  };
}

/**
 * @param groups - each with a budget of its own.
 * @param parameters - those in Parameter Store that hold limits.
 */
export function deskUnits(
  { groups, parameters }: { readonly groups: number; readonly parameters: number },
  desk: DeskCosts = MEASURED_COSTS.desk,
): DeskUnits {
  const place = countPlace(
    desk.byGroups.map((row) => row.groups),
    groups,
  );
  const ofGroups = (name: 'visitReads' | 'visitBytes' | 'parameterRunReads'): number =>
    valueAt(
      desk.byGroups.map((row) => row[name]),
      place,
    );
  const ofParameters = valueAt(
    desk.byParameters.map(({ reads }) => reads),
    countPlace(
      desk.byParameters.map((row) => row.parameters),
      parameters,
    ),
  );
  return {
    visit: {
      readUnits: ofGroups('visitReads'),
      writeUnits: desk.visitWrites,
      requests: desk.visitRequests,
      answerBytes: ofGroups('visitBytes'),
    },
    noticesRun: { readUnits: desk.noticesRunReads },
    parameterRun: {
      readUnits: ofGroups('parameterRunReads') + ofParameters,
      calls: Math.max(1, Math.ceil(parameters / PARAMETERS_PER_CALL)),
    },
  };
}
