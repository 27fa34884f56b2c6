/** CloudWatch Logs Insights queries on the decision log. Each returns at most ten rows. */
const MOST_FIRST = '| sort count desc | limit 10';

/** A repeat was already notified, e.g. before GitLab retried the job. */
const REJECTED = 'filter message = "decision" and outcome = "rejected" and notice = "first"';

export const REJECTIONS_BY_RULE = [
  REJECTED,
  '| fields coalesce(rules.0, cause, "unknown") as rule',
  '| stats count(*) as count by rule',
  MOST_FIRST,
];

export const WOULD_BE_REJECTED_BY_RULE = [
  'filter message = "decision" and ispresent(shadow.0)',
  '| fields shadow.0 as rule',
  '| stats count(*) as count by rule',
  MOST_FIRST,
];

/** Groups of jobs without a decision of the ledger are not known, their root is. */
const GROUP = '| fields coalesce(`group`, root, "unknown") as owner';

export const REJECTIONS_BY_GROUP = [REJECTED, GROUP, '| stats count(*) as count by owner', MOST_FIRST];

/** Held amounts, in the deployment's currency. For the final cost use tollgate statement. */
export const SPEND_BY_GROUP = [
  'filter message = "decision" and outcome = "admitted" and ispresent(costMicros)',
  GROUP,
  '| stats sum(costMicros / 1000000) as held, count(*) as jobs by owner',
  '| sort held desc | limit 10',
];
