import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { expect, test } from 'vitest';
import { RelayNetwork } from '../../cdk/constructs/network.ts';
import type { VpcSettings } from '../../cdk/settings/deployment.ts';

const NEW: VpcSettings = { kind: 'new', cidr: '10.83.0.0/24' };
const EXISTING = {
  kind: 'existing',
  id: 'vpc-0a1b2c3d4e5f60718',
  subnetIds: ['subnet-0a1b2c3d4e5f60718', 'subnet-0b1c2d3e4f5a60718'],
  availabilityZones: ['eu-central-1a', 'eu-central-1b'],
} as const;

function network(settings: VpcSettings, env?: { account: string; region: string }) {
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, 'Network', env === undefined ? {} : { env });
  const made = new RelayNetwork(stack, 'Network', settings);
  return { made, template: Template.fromStack(stack), missing: app.synth().manifest.missing ?? [] };
}

test('a new network is two public subnets in two zones, without a NAT gateway', () => {
  const { made, template } = network(NEW);
  template.resourceCountIs('AWS::EC2::Subnet', 2);
  template.resourceCountIs('AWS::EC2::NatGateway', 0);
  template.resourceCountIs('AWS::EC2::EIP', 0);
  for (const index of [0, 1]) {
    template.hasResourceProperties('AWS::EC2::Subnet', {
      AvailabilityZone: { 'Fn::Select': [index, { 'Fn::GetAZs': Match.anyValue() }] },
      CidrBlock: { 'Fn::Select': [index, { 'Fn::Cidr': ['10.83.0.0/24', 2, '4'] }] },
    });
  }
  expect(made.subnets).toHaveLength(2);
  expect(made.assignPublicIp).toBe(true);
});

test.each([
  { name: 'an account and region given', env: { account: '123456789012', region: 'eu-central-1' } },
  { name: 'none given', env: undefined },
])('synth asks no account anything: $name', ({ env }) => {
  expect(network(NEW, env).missing).toEqual([]);
  expect(network({ ...EXISTING, assignPublicIp: false }, env).missing).toEqual([]);
});

test.each([true, false])('an existing network is used as it is, public addresses: %s', (assignPublicIp) => {
  const { made, template } = network({ ...EXISTING, assignPublicIp });
  expect(template.toJSON().Resources).toBeUndefined();
  expect(made.vpc.vpcId).toBe(EXISTING.id);
  expect(made.subnets.map(({ subnetId, availabilityZone }) => [subnetId, availabilityZone])).toEqual([
    ['subnet-0a1b2c3d4e5f60718', 'eu-central-1a'],
    ['subnet-0b1c2d3e4f5a60718', 'eu-central-1b'],
  ]);
  expect(made.assignPublicIp).toBe(assignPublicIp);
});
