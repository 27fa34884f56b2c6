import { CfnApplication, CfnDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Alias, type CfnAlias, type IVersion } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { addAlarms, metricsOf } from '../monitoring/alarm-set.ts';
import { rolloutAlarms } from '../monitoring/alarms.ts';
import type { RolledOut } from '../monitoring/series.ts';
import type { Settings } from '../settings/deployment.ts';
import { alarmName, functionName, LIVE } from './names.ts';
import type { NodeLambda } from './node-lambda.ts';
import { allow } from './statements.ts';

/**
 * The address of calls instead of the function. A new version gets a tenth of the calls for five minutes, then all of them; an alarm of the
 * rollout before that gives them back to the old version, and the deployment fails.
 */
export function liveAlias(program: NodeLambda, name: RolledOut, settings: Settings): Alias {
  const version = program.fn.currentVersion;
  // The library's own class does not fit its interface under exact optional properties.
  const alias = new Alias(program, 'Live', { aliasName: LIVE, version: version as IVersion });
  if (settings.rollout === 'all-at-once') return alias;
  const { stage, metrics: ownMetrics, alarms } = settings;
  const place = new Construct(program, 'Rollout');
  const fullName = functionName(stage, name);
  const specs = rolloutAlarms(name, ownMetrics);
  const metrics = metricsOf({
    ...{ deployment: stage, ownMetrics },
    dimensions: {
      [`function/${name}`]: { FunctionName: fullName },
      // The new version's alone, so that errors of the old one do not hold its fix back.
      [`rollout/${name}`]: {
        ...{ FunctionName: fullName, Resource: `${fullName}:${LIVE}`, ExecutedVersion: version.version },
      },
    },
  });
  // Without a topic: the failed deployment reports them.
  addAlarms(new Construct(place, 'Alarms'), specs, {
    stage,
    metrics,
    topicArns: [],
    runbookUrl: alarms.runbookUrl,
  });
  const role = new Role(place, 'Role', { assumedBy: new ServicePrincipal('codedeploy.amazonaws.com') });
  // CodeDeploy's own managed policy would let it change every alias of the account.
  role.addToPolicy(
    allow(
      ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'],
      [program.fn.functionArn, `${program.fn.functionArn}:${LIVE}`],
    ),
  );
  // It looks alarms up by a list of names, which knows no resources.
  role.addToPolicy(allow(['cloudwatch:DescribeAlarms'], ['*']));
  const { ref: applicationName } = new CfnApplication(place, 'Application', {
    ...{ applicationName: fullName, computePlatform: 'Lambda' },
  });
  const group = new CfnDeploymentGroup(place, 'Group', {
    ...{ applicationName, serviceRoleArn: role.roleArn },
    deploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
    deploymentStyle: { deploymentType: 'BLUE_GREEN', deploymentOption: 'WITH_TRAFFIC_CONTROL' },
    alarmConfiguration: {
      enabled: true,
      alarms: specs.map((spec) => ({ name: alarmName(stage, spec.name) })),
    },
    autoRollbackConfiguration: {
      enabled: true,
      events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'],
    },
  });
  (alias.node.defaultChild as CfnAlias).cfnOptions.updatePolicy = {
    codeDeployLambdaAliasUpdate: { applicationName, deploymentGroupName: group.ref },
  };
  alias.node.addDependency(place);
  return alias;
}
