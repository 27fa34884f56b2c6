import type { EvaluationRules } from '../../../functions/answers/job/rule-results.ts';
import { pricesAt, type RunnerClass } from '../../../policies/prices/price.ts';
import type { ExpandedJob } from '../pipeline/expanded-job.ts';
import { withSubject } from '../pipeline/pipeline-error.ts';
import { checkJob, type JobCheck, type UndecidedRule } from './job-check.ts';
import { pipelineRequestOf, type RequestOptions } from './job-request.ts';
import { doubtsIn } from './unset-doubts.ts';

/**
 * Checks a job in each form of its rules and on each runner class of its tags. The combined result is
 * certain only if all agree, and its cost is the highest.
 */
export function checkForms(
  job: ExpandedJob,
  rules: EvaluationRules,
  options: RequestOptions,
  nowMs: number,
): JobCheck {
  const check = (form: ExpandedJob): JobCheck =>
    checkJob(
      form,
      withSubject(placeText(job), () => pipelineRequestOf(form, options)),
      rules,
      nowMs,
    );
  const { classes } = pricesAt(rules.policy.prices, nowMs);
  const first = check(job);
  const otherForms = job.otherForms ?? [];
  const others = [
    ...onOtherClasses(job, classes),
    ...otherForms.flatMap((form) => [form, ...onOtherClasses(form, classes)]),
  ].map(check);
  if (others.length === 0) return first;
  const checks = [first, ...others];
  const ofTags = [job, ...otherForms].flatMap(({ unsetVariables = {} }) => doubtsIn('tags', unsetVariables));
  const dearest = checks.reduce((most, each) =>
    each.terms.costMicros > most.terms.costMicros ? each : most,
  );
  const rejected = checks.find(({ verdict }) => verdict === 'rejected');
  const watched = unique(checks.flatMap((each) => each.watched));
  const untold = unique(checks.flatMap((each) => each.untold));
  const shared = { job, terms: dearest.terms, asks: dearest.asks, watched };
  if (checks.every(({ verdict }) => verdict === 'rejected')) {
    const rejects = unique(checks.flatMap((each) => each.rejects));
    return { ...first, ...shared, rejects, untold };
  }
  const unsure = checks.find(({ verdict }) => verdict === 'not sure');
  return {
    ...(rejected ?? unsure ?? first),
    ...shared,
    verdict: rejected === undefined && unsure === undefined ? 'ok' : 'not sure',
    rejects: [],
    untold: [...untold, ...unique(checks.flatMap((each) => each.rejects)).map(ofSomeForms)],
  };

  function ofSomeForms(violation: JobCheck['rejects'][number]): UndecidedRule {
    const { rule, mode } = violation;
    return { rule, mode, needs: [...new Set(ofTags)], against: [violation], dependsOn: job.dependsOn ?? [] };
  }
}

/** An unknown tag may belong to any runner class. */
const onOtherClasses = (
  form: ExpandedJob,
  classes: readonly Pick<RunnerClass, 'tags'>[],
): readonly ExpandedJob[] =>
  form.unsetVariables?.tags === undefined
    ? []
    : classes
        .filter(({ tags }) => !tags.every((tag) => form.tags.includes(tag)))
        .map(({ tags }) => ({ ...form, tags: [...form.tags, ...tags] }));

/** For the message of an error. */
const placeText = ({ place, definedAs }: ExpandedJob): string =>
  place === undefined ? definedAs : `${place.file}:${place.line}: ${definedAs}`;

const unique = <T extends object>(list: readonly T[]): readonly T[] => [
  ...new Map(list.map((each) => [JSON.stringify(each), each])).values(),
];
