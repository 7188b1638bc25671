/** The Chinese texts of the reasons of problems, and of what resolves itself, by the English ones. */
export const chineseProblems: Readonly<Record<string, string>> = {
  // problems
  'A GitOps tool reverts the image each time.': 'GitOps 工具每次都把镜像改回去。',
  'A GitOps tool (Argo CD, Flux, Helm and others) has replaced the same image twice after image-watcher applied it. image-watcher stops, because the tool would do it again.':
    '在 image-watcher 应用之后，GitOps 工具（Argo CD、Flux、Helm 等）两次替换了同一个镜像。image-watcher 停止修改，因为该工具会再次这样做。',
  'Write the image where the tool reads it, target the resource that the tool reads ([targets](targets.md#who-else-writes-there)), or configure the tool to ignore the field. Then run `image-watcher release NS/NAME`. A newer image is tried without a release.':
    '在该工具读取的地方写入镜像，以该工具读取的资源为目标（[更新目标](targets.md#who-else-writes-there)），或配置该工具忽略这个字段。然后运行 `image-watcher release NS/NAME`。更新的镜像不需要放行就会尝试。',
  'The spec cannot be understood.': '无法理解 spec。',
  'A field of the policy has a value that image-watcher cannot use. The message begins with the path of the field.':
    '策略的某个字段的值，image-watcher 无法使用。消息以该字段的路径开头。',
  'Correct the policy; it is reconciled at once. `image-watcher lint` finds these problems in files before they are applied.':
    '改正策略；它会立即调和。`image-watcher lint` 在应用之前就在文件中找出这些问题。',
  'The pattern or the range of the tag policy cannot be parsed, or the patterns are too large.':
    '无法解析标签策略的模式或范围，或者模式过大。',
  'A version range or an RE2 pattern in `spec.select` or `spec.tags` cannot be parsed or can match nothing, or the patterns are too expensive for the number of tags in the repository.':
    '`spec.select` 或 `spec.tags` 中的版本范围或 RE2 模式无法解析或什么都不匹配，或者模式相对于镜像的标签数量开销过大。',
  'Correct the expression, or simplify the pattern (smaller repetition counts); `image-watcher lint` checks it. The policy is reconciled as soon as it is changed.':
    '改正表达式，或简化模式（减小重复次数）；`image-watcher lint` 检查它。策略一修改就会调和。',
  'The spec uses a feature that this version does not have yet.': 'spec 使用了该版本还没有的功能。',
  'The policy has a field that this version of image-watcher does not know, because the CustomResourceDefinition is newer than the workers.':
    '策略有一个该版本的 image-watcher 不知道的字段，因为 CustomResourceDefinition 比工作进程新。',
  'Upgrade the workers, or remove the field. image-watcher changes nothing for this policy until then.':
    '升级工作进程，或删除该字段。在此之前，image-watcher 不为该策略修改任何内容。',
  'The target kind cannot be updated.': '无法更新目标的类型。',
  'The kind of a target cannot be updated: it is not a supported built-in kind, it is not in a namespace, or `fields` are written for a kind that has containers.':
    '无法更新目标的类型：它不是受支持的内置类型，不属于命名空间，或者为具有容器的类型写了 `fields`。',
  'Correct `spec.targets`. [Targets](targets.md) lists the supported kinds; custom resources need `apiVersion`.':
    '改正 `spec.targets`。[更新目标](targets.md)列出受支持的类型；定制资源需要 `apiVersion`。',
  'The target does not exist.': '目标不存在。',
  'The workload does not exist, no workload matches the selector, or its namespace is not in `watch.namespaces`. The other targets of the policy are updated all the same.':
    '工作负载不存在，没有工作负载匹配选择算符，或者它的命名空间不在 `watch.namespaces` 中。策略的其他目标照常更新。',
  'Create the workload, or correct its kind, name, namespace or labels. The policy is reconciled as soon as the workload exists.':
    '创建工作负载，或改正它的类型、名称、命名空间或标签（label）。工作负载一存在，就会调和策略。',
  'The API server does not know the kind of a target.': 'API server 不知道目标的类型。',
  'The API server does not serve the kind of a target: its CustomResourceDefinition is not installed, or `apiVersion` or `kind` is misspelled.':
    'API server 不提供目标的类型：没有安装它的 CustomResourceDefinition，或者 `apiVersion` 或 `kind` 拼写错误。',
  'Install the definition or correct the target. The policy is reconciled as soon as the kind is served; with `watch.namespaces`, image-watcher asks for it after about ten seconds, and later every five minutes, or at once after an edit.':
    '安装该定义，或改正目标。一旦提供该类型，就会调和策略；使用 `watch.namespaces` 时，image-watcher 约十秒后查询它，之后每五分钟查询一次，修改之后立即查询。',
  'The service may not list or watch the kind of a target.': '服务不可以列出或监视目标的类型。',
  'The service account of image-watcher may not list or watch the kind of a target.':
    'image-watcher 的服务账号不可以列出或监视目标的类型。',
  'Grant `get`, `list`, `watch` and `patch` on the resource in the message ([targets](targets.md#permissions)). The policy is reconciled by itself after that.':
    '授予对消息中资源的 `get`、`list`、`watch` 和 `patch` 权限（[更新目标](targets.md#permissions)）。之后策略自动调和。',
  'The targets of a policy select more workloads than one policy may have.': '策略的目标选中的工作负载超过了一个策略允许的数量。',
  'The targets of the policy select more than 2,000 workloads. None of the target in the message is changed; the other targets are.':
    '策略的目标共选中超过 2,000 个工作负载。消息中的目标的工作负载都不会被更改；其他目标照常更改。',
  'Give each part of the workloads a policy of its own, with a narrower selector. The policy is reconciled by itself after that.':
    '为每一部分工作负载各建一个策略，用更窄的选择器。之后策略自动调和。',
  'The policies of a namespace name more kinds of custom resources than one namespace may.':
    '一个命名空间的策略所写的定制资源类型超过了允许的数量。',
  'The policies of the namespace together name more than 32 kinds of custom resources. The kinds of the oldest policies are used.':
    '该命名空间的策略合计写了超过 32 种定制资源。使用最早的策略的类型。',
  'Remove targets of other kinds, or move policies to another namespace. The policy is reconciled by itself after that.':
    '删除其他类型的目标，或把策略移到另一个命名空间。之后策略自动调和。',
  'A field of the target is not one that the operator lets policies write.': '目标的某个字段不是管理员允许策略写入的字段。',
  'A path in `fields` of a target is neither in the built-in list of image fields nor allowed by the configuration.':
    '目标的 `fields` 中的一个路径既不在镜像字段的内置列表中，也没有得到配置允许。',
  'Use a field that is [allowed](targets.md#which-fields-may-be-written), or ask the operator to add the entry in the message to `customTargets` and to restart the workers. `image-watcher lint` with `--config` checks both.':
    '使用[允许的](targets.md#which-fields-may-be-written)字段，或请管理员把消息中的条目加入 `customTargets` 并重启工作进程。带有 `--config` 的 `image-watcher lint` 检查两者。',
  'A field of the target has no parent that could hold it.': '目标的某个字段没有可以容纳它的上级。',
  'The parent of a field does not exist in the resource, and image-watcher never creates parents.':
    '字段的上级在资源中不存在，而 image-watcher 从不创建上级。',
  'Correct the path, or write the field once yourself. The policy is reconciled as soon as the resource changes.':
    '改正路径，或自己写入该字段一次。资源一有变化，就会调和策略。',
  'A field of the target holds something other than text.': '目标的某个字段的内容不是文本。',
  'A field that should hold an image, a tag or a registry holds something else, such as an object or a list.':
    '应当容纳镜像、标签或镜像仓库的字段是别的内容，例如对象或列表。',
  'Name the field that holds the text, or correct the resource. The policy is reconciled as soon as the resource changes.':
    '写出容纳文本的字段，或改正资源。资源一有变化，就会调和策略。',
  'No container of the target runs the repository.': '目标中没有容器运行该镜像。',
  'No container of the target runs `spec.image`, or one of those in `containers` does not. Init containers count only with `initContainers: true`, volumes only with `volumes: true`. For `fields`, the repository in the resource is another one, or missing.':
    '目标中没有容器运行 `spec.image`，或者 `containers` 中的某个容器没有运行它。Init 容器只在设置 `initContainers: true` 时计入，卷只在设置 `volumes: true` 时计入。对于 `fields`，资源中的镜像名称不同，或者没有。',
  'Compare `spec.image` with the images of the workload, including the host. List other host names of the registry in `registries[].aliases`. The policy is reconciled as soon as the workload changes.':
    '比较 `spec.image` 和工作负载的镜像，包括主机。在 `registries[].aliases` 中列出镜像仓库的其他主机名。工作负载一有变化，就会调和策略。',
  'The configuration denies targets in other namespaces.': '配置禁止其他命名空间中的目标。',
  'A target is in another namespace than the policy, and the setting `crossNamespace` is `deny`.':
    '目标与策略在不同的命名空间，而设置 `crossNamespace` 为 `deny`。',
  'Create a policy in the namespace of the target. Or the operator sets `crossNamespace: consent`, so that owners can agree, and restarts the workers; then run `image-watcher check NS/NAME`.':
    '在目标的命名空间创建策略。或者由管理员设置 `crossNamespace: consent`，让所有者可以同意，并重启工作进程；然后运行 `image-watcher check NS/NAME`。',
  'The target is in another namespace, which does not allow policies from here.': '目标在另一个命名空间，那里不允许来自这里的策略。',
  '[`Stalled`](#condition-stalled), a Warning Event of the policy; a push has the outcome `stalled`. With `crossNamespace: legacy`, only the condition [`CrossNamespace`](#condition-crossnamespace).':
    '[`Stalled`](#condition-stalled)，策略有一个 Warning Event；推送的结果是 `stalled`。使用 `crossNamespace: legacy` 时，只有状况 [`CrossNamespace`](#condition-crossnamespace)。',
  'A target is in another namespace whose owners have not allowed policies of this namespace, or it does not exist: the message is the same, so that it reveals nothing.':
    '目标在另一个命名空间，它的所有者没有允许该命名空间的策略，或者目标不存在：消息相同，因此不泄露任何信息。',
  'Ask the owners to set the annotation `operator.technomad.dev/allow-policies-from` on the workload or on its Namespace. The policy is reconciled as soon as they do. `image-watcher consents` lists what is missing.':
    '请所有者在工作负载或其 Namespace 上设置注解 `operator.technomad.dev/allow-policies-from`。一旦设置，就会调和策略。`image-watcher consents` 列出缺少什么。',
  'The repository holds no tag that the policy selects.': '该镜像没有策略会选择的标签。',
  'The registry has the repository, but none of its tags is selected by `spec.select` and `spec.tags`. The message explains why for one tag.':
    '镜像仓库中有该镜像，但 `spec.select` 和 `spec.tags` 没有选择它的任何标签。消息以一个标签为例说明原因。',
  'Push a tag that matches, or change the selection. The policy recovers with the next push, poll or edit; `image-watcher check NS/NAME` asks the registry at once.':
    '推送匹配的标签，或修改选择方式。下一次推送、轮询或修改之后，策略恢复；`image-watcher check NS/NAME` 立即查询镜像仓库。',
  'The registry does not know the repository.': '镜像仓库不知道该镜像。',
  'The registry answers that it does not know the repository. Some registries answer the same if the credentials may not read it.':
    '镜像仓库答复不知道该镜像。有些镜像仓库在凭据不可以读取它时，也这样答复。',
  'Check the spelling of `spec.image`, push a first image, or configure [credentials](credentials.md). The policy recovers when its Secrets change and at the next push or poll; `image-watcher check NS/NAME` asks at once.':
    '检查 `spec.image` 的拼写，推送第一个镜像，或配置[凭据](credentials.md)。Secret 改变时以及下一次推送或轮询时，策略恢复；`image-watcher check NS/NAME` 立即查询。',
  'The registry refused the credentials; pushes are retried for 24 h with growing pauses.':
    '镜像仓库拒绝了凭据；推送在 24 小时之内重试，间隔逐渐增大。',
  '[`Stalled`](#condition-stalled), a Warning Event of the policy; a push has the outcome `stalled`. While its push is retried, the outcome is `waiting`.':
    '[`Stalled`](#condition-stalled)，策略有一个 Warning Event；推送的结果是 `stalled`。在重试其推送期间，结果是 `waiting`。',
  'The registry refused all credentials that image-watcher could use. The message lists each and why it was refused.':
    '镜像仓库拒绝了 image-watcher 可以使用的所有凭据。消息列出每个凭据以及被拒绝的原因。',
  'Correct the Secret or the permissions in the registry ([credentials](credentials.md#registrydenied)). A changed Secret takes effect at once; pushes are retried by themselves for 24 h.':
    '改正 Secret 或镜像仓库中的权限（[凭据](credentials.md#registrydenied)）。修改后的 Secret 立即生效；推送在 24 小时之内自动重试。',
  'The configuration does not allow this registry.': '配置不允许该镜像仓库。',
  'image-watcher may not send requests to this host: it is not in `allowedRegistries`, the registry redirects to plain HTTP, or the address is link-local or a metadata service.':
    'image-watcher 不可以向该主机发送请求：它不在 `allowedRegistries` 中，镜像仓库重定向到不加密的 HTTP，或者地址是链路本地地址或元数据服务。',
  'The operator adds the host to `allowedRegistries`, or sets `insecure: true` for it in `registries`, and restarts the workers; then run `image-watcher check NS/NAME`. Link-local addresses are never allowed.':
    '由管理员把主机加入 `allowedRegistries`，或在 `registries` 中为它设置 `insecure: true`，并重启工作进程；然后运行 `image-watcher check NS/NAME`。链路本地地址从不允许。',
  'The API server rejected the change, and would do so again.': 'API server 拒绝了修改，再次尝试也会拒绝。',
  'The API server refused to change the workload: its validation, an admission webhook or policy, or a missing permission. The message is that of the API server.':
    'API server 拒绝修改工作负载：由于它的校验、准入 Webhook 或准入策略，或者缺少权限。消息来自 API server。',
  'Fix what the message names. For a missing permission, grant `patch` on the resource. The policy is reconciled when the workload changes; otherwise run `image-watcher check NS/NAME`.':
    '修复消息指出的问题。如果缺少权限，请授予对该资源的 `patch` 权限。工作负载改变时调和策略；否则运行 `image-watcher check NS/NAME`。',
  'The policy requires a signature, and the image has none.': '策略要求签名，而镜像没有签名。',
  '[`Reconciling`](#condition-reconciling) for the first five minutes, then [`Stalled`](#condition-stalled) with a Warning Event.':
    '前五分钟为 [`Reconciling`](#condition-reconciling)，之后为 [`Stalled`](#condition-stalled)，并有一个 Warning Event。',
  'The policy has `spec.verify`, and the registry has no signature of the digest. Signatures are pushed after their image, so image-watcher waits first.':
    '策略设置了 `spec.verify`，而镜像仓库中没有该摘要的签名。签名在镜像之后推送，因此 image-watcher 先等待。',
  'Sign the digest in the message with `cosign sign`. While the policy is Reconciling, the signature is found by itself; after that, at the next push or poll, or with `image-watcher check NS/NAME`.':
    '用 `cosign sign` 为消息中的摘要签名。策略为 Reconciling 时会自动找到签名；之后在下一次推送或轮询时，或用 `image-watcher check NS/NAME` 找到。',
  'The image has signatures, but none that the policy accepts.': '镜像有签名，但没有策略接受的签名。',
  'The image has signatures, but by another key or identity, for another digest, or invalid; or the chart has no provenance, or one that is not accepted. The message says what was found and what is required.':
    '镜像有签名，但由别的密钥或身份签署、属于别的摘要，或者无效；或者 Chart 没有 provenance，或其 provenance 不被接受。消息说明找到了什么、需要什么。',
  'Sign the image with an accepted key or identity, or correct `spec.verify`. If only keyless signatures of a new log are rejected, update the [trust root](signatures.md#signing-without-a-key). The policy recovers when its Secrets change, or at the next push or poll.':
    '用接受的密钥或身份为镜像签名，或改正 `spec.verify`。如果只有新日志的无密钥签名被拒绝，请更新[信任根](signatures.md#signing-without-a-key)。Secret 改变时，或下一次推送或轮询时，策略恢复。',
  'No key to verify signatures with can be read from its Secret.': '无法从 Secret 中读取验证签名的密钥。',
  'The Secret in `spec.verify` or its key does not exist, may not be read, or does not hold a public key: in PEM form for cosign, of OpenPGP for a provenance. Keys of OpenPGP that have expired, are revoked or may not sign do not count.':
    '`spec.verify` 中的 Secret 或它的键不存在、不可以读取，或者其中没有公钥：cosign 需要 PEM 格式，provenance 需要 OpenPGP 公钥。已过期、已吊销或不可以签名的 OpenPGP 密钥不算数。',
  'Create or correct the Secret in the namespace of the policy; the policy is reconciled as soon as it changes.':
    '在策略的命名空间创建或改正 Secret；它一有变化，就会调和策略。',
  'The policy requires keyless signatures, and the configuration has no trust root.': '策略要求无密钥签名，而配置没有信任根。',
  'The policy requires keyless signatures, but the setting `verification.trustRootFile` is missing.':
    '策略要求无密钥签名，但缺少设置 `verification.trustRootFile`。',
  'The operator configures the file ([signatures](signatures.md#signing-without-a-key)) and restarts the workers; then run `image-watcher check NS/NAME`. Or the policy requires a key instead.':
    '由管理员配置该文件（[签名](signatures.md#signing-without-a-key)）并重启工作进程；然后运行 `image-watcher check NS/NAME`。或者让策略改为要求密钥。',
  // findings
  'What runs has vulnerabilities that an image fixes, and that image waits.': '运行的版本有漏洞，有镜像修复了它们，而该镜像正在等待。',
  'A [notification](notifications.md), and on the first page of the dashboard; no condition has this reason.':
    '一条[通知](notifications.md)，以及仪表板的首页；没有任何 condition 使用该原因。',
  'An image runs with [vulnerabilities](vulnerabilities.md), and the selected image or one that waits fixes them, of severity High or of what the policy names. It is not applied: it waits for its age, a window or an approval, is held, or the policy is suspended.':
    '运行的镜像有[漏洞](vulnerabilities.md)，而所选镜像或等待中的镜像修复了它们，其严重程度至少为 High，或至少为策略所写的程度。它没有被应用：它在等待时长、窗口或批准，被保留，或者策略已暂停。',
  'The message says what it waits for: approve or release it, or resume the policy. To apply such images without these waits, write `minAgeUnless` or `update.windowsUnless`.':
    '消息会说明它在等待什么：请批准或放行它，或恢复策略。要让这样的镜像不经过这些等待即被应用，请写 `minAgeUnless` 或 `update.windowsUnless`。',
  'Polls found images that no webhook had announced.': '轮询找到了没有 Webhook 通知过的镜像。',
  'A Warning Event of the policy, a warning in the log, the alert `ImageWatcherWebhookLost`. The update itself was made by the poll.':
    '策略有一个 Warning Event，日志中有一个警告，告警 `ImageWatcherWebhookLost`。更新本身由轮询完成。',
  'Polls found three images of a registry that no webhook announced, and no webhook announced one in between. The Event repeats at the sixth, the twelfth and so on.':
    '轮询在一个镜像仓库中找到了三个没有 Webhook 通知的镜像，其间也没有 Webhook 通知过镜像。Event 在第六个、第十二个等镜像时重复。',
  'Follow [these steps](operations/polling.md). If the registry sends no webhooks and is only polled, ignore the Event.':
    '按照[这些步骤](operations/polling.md)去做。如果镜像仓库不发送 Webhook、只靠轮询，请忽略该 Event。',
  // temporary
  'The image is younger than the minimum age of the policy.': '镜像的时长没有达到策略的最短时长。',
  'The digest has been known for less than `spec.minAge`. A newer push does not restart the wait.':
    '得知该摘要的时间短于 `spec.minAge`。更新的推送不会重新开始等待。',
  'Wait: the image is applied at the time in `status.waiting`. To apply images earlier, lower `spec.minAge`.':
    '等待：镜像在 `status.waiting` 中的时间应用。要更早应用镜像，请减小 `spec.minAge`。',
  'The push waits until the registry has scanned the image.': '推送等待镜像仓库扫描镜像。',
  'The push has the outcome `waiting`; policies do not show it.': '推送的结果是 `waiting`；策略不显示它。',
  'The receiver has `waitForScan`, and the registry has not announced the end of the scan of the image. The push is stored, and starts with that announcement, or after 10 minutes.':
    '接收端设置了 `waitForScan`，而镜像仓库还没有通知该镜像的扫描已结束。推送已存储，收到该通知时或 10 分钟后开始处理。',
  'Nothing. If pushes always wait for 10 minutes, let the webhook of the project announce scans ([Harbor](receivers/harbor.md#images-that-are-scanned-first)); `image-watcher replay` starts one at once.':
    '什么都不用做。如果推送总是等待 10 分钟，请让项目的 Webhook 通知扫描（[Harbor](receivers/harbor.md#images-that-are-scanned-first)）；`image-watcher replay` 立即开始处理一个推送。',
  'The registry does not show yet what it announced.': '镜像仓库还没有显示它所通知的内容。',
  '[`Reconciling`](#condition-reconciling) and `status.waiting`, if it lasts for more than 5 s; a push has the outcome `waiting`.':
    '[`Reconciling`](#condition-reconciling) 和 `status.waiting`（持续超过 5 秒时）；推送的结果是 `waiting`。',
  'A webhook announced an image, but the registry does not serve the new digest yet. Registries announce a tag before it can be read.':
    'Webhook 通知了一个镜像，但镜像仓库还没有提供新的摘要。镜像仓库在标签可以读取之前就会通知它。',
  'Nothing: the registry is asked again for 10 s. After that its answer is used, and the next poll finds what was missed.':
    '什么都不用做：在 10 秒内再次查询镜像仓库。之后采用它的答复，下一次轮询会找到遗漏的内容。',
  'The registry asked for a pause (429 or Retry-After).': '镜像仓库要求暂停（429 或 Retry-After）。',
  '[`Reconciling`](#condition-reconciling) and `status.waiting`, if it lasts for more than 5 s; a push has the outcome `waiting`. `image_watcher_registry_postponed_total`.':
    '[`Reconciling`](#condition-reconciling) 和 `status.waiting`（持续超过 5 秒时）；推送的结果是 `waiting`。`image_watcher_registry_postponed_total`。',
  'The registry answered 429 or sent `Retry-After`, or no pulls remain for the account (Docker Hub).':
    '镜像仓库答复了 429 或发送了 `Retry-After`，或者该账号已没有剩余的拉取次数（Docker Hub）。',
  'Wait: the push is retried at the time in the message. If it happens often, configure [credentials](credentials.md) with a higher limit, set `registries[].requestsPerSecond`, or lengthen `poll.interval`.':
    '等待：推送在消息中的时间重试。如果经常发生，请配置限额更高的[凭据](credentials.md)，设置 `registries[].requestsPerSecond`，或延长 `poll.interval`。',
  'The registry fails or does not answer; requests pause for a while.': '镜像仓库失败或没有答复；请求暂停一段时间。',
  '[`Reconciling`](#condition-reconciling) and `status.waiting`, if it lasts for more than 5 s; a push has the outcome `waiting`. `image_watcher_registry_circuit_open`, the alert `ImageWatcherRegistryFails`.':
    '[`Reconciling`](#condition-reconciling) 和 `status.waiting`（持续超过 5 秒时）；推送的结果是 `waiting`。`image_watcher_registry_circuit_open`，告警 `ImageWatcherRegistryFails`。',
  'Five requests in a row for different repositories failed: no connection, no answer in time, or a 5xx. Requests to the host pause for up to 60 s at a time.':
    '对不同镜像的五次请求连续失败：没有连接、没有及时答复，或 5xx。对该主机的请求每次最多暂停 60 秒。',
  'Restore the registry or the network to it. Pushes wait in the queue and continue by themselves.':
    '恢复镜像仓库或通往它的网络。推送在队列中等待，并自动继续。',
  'Too many requests wait for the registry, or its answer was the largest of too many large ones.':
    '等待该镜像仓库的请求太多，或者在太多的大答复中，它的答复是最大的。',
  'So many requests wait for this registry that others would be delayed, or an answer was the largest of those that together took too much memory.':
    '等待该镜像仓库的请求太多，会拖延其他请求；或者几个答复合计占用了过多内存，而它是其中最大的。',
  'Nothing: the push is retried within seconds, or within a minute for a large answer. If it lasts, the registry answers too slowly for the number of pushes.':
    '什么都不用做：推送在几秒之内重试，答复很大时在一分钟之内重试。如果它持续不变，对于推送的数量而言，镜像仓库答复得太慢。',
  'An attempt failed and is repeated with growing pauses.': '一次尝试失败，会以逐渐增大的间隔重复。',
  '[`Reconciling`](#condition-reconciling) from the third failed attempt on; the push has the outcome `retrying`, and `failed` after 24 h. The log message `reconcile failed, will be repeated`.':
    '从第三次失败的尝试起为 [`Reconciling`](#condition-reconciling)；推送的结果是 `retrying`，24 小时之后是 `failed`。日志消息 `reconcile failed, will be repeated`。',
  'An attempt failed for a reason that is usually temporary: the registry or the API server did not answer, or answered with an error. The message contains it.':
    '一次尝试因通常是暂时的原因失败：镜像仓库或 API server 没有答复，或者答复了错误。消息包含该原因。',
  'Wait: it is repeated after 1 s, then with growing pauses of up to 5 min, for 24 h. If it lasts, fix what the message names. Repeat a push that has failed with `image-watcher replay ID`.':
    '等待：1 秒之后重复，之后以逐渐增大的间隔（最长 5 分钟）重复，持续 24 小时。如果它持续不变，请修复消息指出的问题。用 `image-watcher replay ID` 重复已失败的推送。',
};
