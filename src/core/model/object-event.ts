/** A Kubernetes Event about an object, as `kubectl describe` shows it. */
export interface ObjectEvent {
  readonly regarding: EventSubject;
  readonly type: 'Normal' | 'Warning';
  /** The reason in UpperCamelCase; must be stable. */
  readonly reason: string;
  /** The action that was being done, in UpperCamelCase. */
  readonly action: string;
  readonly message: string;
  /** Whether only one Event an hour is recorded for this subject and reason, whatever the message. For problems that are found repeatedly. */
  readonly atMostHourly?: boolean;
}

/** The object that an Event is about. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
}
