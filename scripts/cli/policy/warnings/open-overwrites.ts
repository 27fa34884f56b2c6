import { priceVersions } from '../../../../policies/prices/price.ts';
import { kindRow } from '../../../../policies/units/unit.ts';
import type { Warning, WrittenDocuments } from './warning.ts';

/** Warns about classes whose jobs choose their own CPU and memory where these are priced or limited. */
export function openOverwrites({ policy, limits }: WrittenDocuments): readonly Warning[] {
  const isLimited = [...limits.bySubject.values()].flat().some(({ kind }) => kindRow(kind).requested);
  const open = priceVersions(policy.prices).flatMap(({ classes }) =>
    classes.filter(
      ({ footprint, overwrites }) => overwrites === undefined && (isLimited || footprint !== undefined),
    ),
  );
  if (open.length === 0) return [];
  const names = [...new Set(open.map(({ name }) => name))].join(', ');
  const message = `of class ${names} it is not said which KUBERNETES_* sizes runners take from a job, so the larger of class and request counts; write overwrites: none, or the Runner's *_overwrite_max_allowed as tollgate policy import prints them`;
  return [{ path: ['prices'], message }];
}
