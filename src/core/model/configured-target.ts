/** Who gets notices, as the configuration or a NotificationTarget says it. */
import type { GithubSettings, MessageTemplate, TargetType } from './notification-target.ts';

/** From whom and to whom. */
export interface MailAddresses {
  readonly from: string;
  readonly to: readonly string[];
}

/** A target of the configuration, with its secrets. */
export interface ConfiguredTarget {
  readonly name: string;
  readonly kind: TargetType;
  readonly events: readonly string[];
  /** The namespaces whose policies it gets notices about; empty: all. */
  readonly namespaces: readonly string[];
  /** Labels that a policy must have; undefined: all policies. */
  readonly policies?: Readonly<Record<string, string>> | undefined;
  /** Of messages. */
  readonly template?: MessageTemplate | undefined;
  /** With kind githubDeployment. */
  readonly github?: GithubSettings | undefined;
  /** With kind email. */
  readonly email?: MailAddresses | undefined;
  /** Whether plain http, or SMTP without TLS, is allowed. */
  readonly insecure: boolean;
  /** How many messages it gets in a minute; the others are summed up. Undefined: all. */
  readonly perMinute?: number | undefined;
  /** The current address, which is a secret; rejects where there is none that may be used. */
  readonly url: () => string | Promise<string>;
  /** The current key for signatures, or a token; empty for chats. */
  readonly secret: () => string | Promise<string>;
}
