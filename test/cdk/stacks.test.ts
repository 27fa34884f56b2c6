/** One file, so that one worker loads the CDK and synthesizes each deployment once. */
import './gitlab-descriptors.ts';
import './least-actions.ts';
import './monitoring-alarms.ts';
import './monitoring-dashboard.ts';
import './monitoring-runbook.ts';
import './relay-service.ts';
import './resources.ts';
import './stacks.ts';
import './table-attacks.ts';
