/** The domains of the partitions, by the beginning of the region's name (AWS: service endpoints). */
const domains: readonly [regions: string, domain: string][] = [
  ['cn-', 'amazonaws.com.cn'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['eusc-', 'amazonaws.eu'],
];

/**
 * The host of an account's registry, `123456789012.dkr.ecr.eu-west-1.amazonaws.com`, or undefined for what is no account or region.
 * Its dual-stack and FIPS names are aliases, for the configuration to tell.
 */
export function ecrHost(account: string, region: string): string | undefined {
  if (!/^\d{12}$/.test(account) || !/^[a-z]{2,4}(?:-[a-z]+)+-\d{1,2}$/.test(region)) return undefined;
  const domain = domains.find(([beginning]) => region.startsWith(beginning))?.[1] ?? 'amazonaws.com';
  return `${account}.dkr.ecr.${region}.${domain}`;
}
