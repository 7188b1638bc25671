/** The recipient of notices, as the configuration or a NotificationTarget describes it. */
import type { ForgeSettings, MessageTemplate, TargetType } from './notification-target.ts';

/** The sender and the recipients of a mail. */
export interface MailAddresses {
  readonly from: string;
  readonly to: readonly string[];
}

/** A target of the configuration, with its secrets. */
export interface ConfiguredTarget {
  readonly name: string;
  readonly kind: TargetType;
  readonly events: readonly string[];
  /** The namespaces whose policies the target gets notices about; empty for all. */
  readonly namespaces: readonly string[];
  /** The labels that a policy must have; undefined for all policies. */
  readonly policies?: Readonly<Record<string, string>> | undefined;
  /** The template of the messages to this target. */
  readonly template?: MessageTemplate | undefined;
  /** The settings of the kinds that report to a Git host. */
  readonly forge?: ForgeSettings | undefined;
  /** The addresses of kind email. */
  readonly email?: MailAddresses | undefined;
  /** Whether plain http, or SMTP without TLS, is allowed. */
  readonly insecure: boolean;
  /** The maximum number of messages in a minute; the others are summed up. Undefined for all. */
  readonly perMinute?: number | undefined;
  /** The current address, which is a secret. Rejects if there is none that may be used. */
  readonly url: () => string | Promise<string>;
  /** The current key for signatures, or a token; empty for chats. */
  readonly secret: () => string | Promise<string>;
}
