/** A topic of Amazon SNS, as its ARN names it: the one place that addresses of AWS are made from. */
export interface SnsTopic {
  readonly arn: string;
  /** `sns.eu-west-1.amazonaws.com` */
  readonly host: string;
}

/** What the configuration may name. */
export const topicPattern = /^arn:(aws|aws-cn|aws-us-gov):sns:([a-z]{2}(?:-[a-z]+)+-\d):\d{12}:[\w-]{1,256}(?:\.fifo)?$/;

/** Reads an ARN; undefined when it is none of SNS. */
export function parseTopic(arn: string): SnsTopic | undefined {
  const [, partition, region] = topicPattern.exec(arn) ?? [];
  if (partition === undefined || region === undefined) return undefined;
  return { arn, host: `sns.${region}.amazonaws.com${partition === 'aws-cn' ? '.cn' : ''}` };
}
