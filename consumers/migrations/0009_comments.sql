-- What views, their columns and functions mean: docs/sql.md is made from these lines.

COMMENT ON VIEW agentjournal.sessions IS 'Sessions as they are now.';
COMMENT ON COLUMN agentjournal.sessions.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.sessions.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.sessions.user_id IS 'whom it belongs to';
COMMENT ON COLUMN agentjournal.sessions.agent IS 'the program that works on it';
COMMENT ON COLUMN agentjournal.sessions.title IS 'the last title that was given';
COMMENT ON COLUMN agentjournal.sessions.status IS 'open, ended, expired or deleted';
COMMENT ON COLUMN agentjournal.sessions.task_id IS 'the work that it is a part of';
COMMENT ON COLUMN agentjournal.sessions.parent_session_id IS 'the session that it comes from';
COMMENT ON COLUMN agentjournal.sessions.root_session_id IS 'the first of its parents';
COMMENT ON COLUMN agentjournal.sessions.started_at IS 'broker''s time of its first event';
COMMENT ON COLUMN agentjournal.sessions.last_activity_at IS 'broker''s time of its last event';
COMMENT ON COLUMN agentjournal.sessions.version IS 'version of its last event';
COMMENT ON COLUMN agentjournal.sessions.head_hash IS 'hash of its last event, hexadecimal';
COMMENT ON COLUMN agentjournal.sessions.messages IS 'how many were added';
COMMENT ON COLUMN agentjournal.sessions.input_tokens IS 'of all model calls';
COMMENT ON COLUMN agentjournal.sessions.output_tokens IS 'of all model calls';
COMMENT ON COLUMN agentjournal.sessions.cost IS
    'of all model calls that have one, whatever the currency';
COMMENT ON COLUMN agentjournal.sessions.open_calls IS 'tool calls without an outcome';
COMMENT ON COLUMN agentjournal.sessions.stream IS 'its stream';
COMMENT ON COLUMN agentjournal.sessions.open_turn_id IS 'the turn that is going on';

COMMENT ON VIEW agentjournal.session_tree IS 'Sessions with the path from the root of their tree.';
COMMENT ON COLUMN agentjournal.session_tree.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.session_tree.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.session_tree.version IS 'version of its last event';
COMMENT ON COLUMN agentjournal.session_tree.parent_session_id IS 'the session that it comes from';
COMMENT ON COLUMN agentjournal.session_tree.root_session_id IS
    'the first of the path, which may be unknown here';
COMMENT ON COLUMN agentjournal.session_tree.depth IS 'how many sessions are above it, at most 101';
COMMENT ON COLUMN agentjournal.session_tree.path IS 'session ids from the root to this one';
COMMENT ON COLUMN agentjournal.session_tree.user_id IS 'whom it belongs to';
COMMENT ON COLUMN agentjournal.session_tree.agent IS 'the program that works on it';
COMMENT ON COLUMN agentjournal.session_tree.title IS 'the last title that was given';
COMMENT ON COLUMN agentjournal.session_tree.status IS 'open, ended, expired or deleted';
COMMENT ON COLUMN agentjournal.session_tree.task_id IS 'the work that it is a part of';

COMMENT ON VIEW agentjournal.turns IS 'Turns of sessions: from what started work to its end.';
COMMENT ON COLUMN agentjournal.turns.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.turns.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.turns.version IS 'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.turns.turn_id IS 'its id';
COMMENT ON COLUMN agentjournal.turns.trigger IS 'user, schedule, approval, handoff or resume';
COMMENT ON COLUMN agentjournal.turns.reason IS
    'completed, interrupted, failed, waiting or limit; null while it goes on';
COMMENT ON COLUMN agentjournal.turns.started_at IS 'broker''s time';
COMMENT ON COLUMN agentjournal.turns.ended_at IS 'broker''s time';
COMMENT ON COLUMN agentjournal.turns.resume_at IS 'when it goes on, as the writer wrote it';

COMMENT ON VIEW agentjournal.messages IS 'Messages of sessions.';
COMMENT ON COLUMN agentjournal.messages.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.messages.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.messages.version IS 'version of the event that added it';
COMMENT ON COLUMN agentjournal.messages.message_id IS 'its id';
COMMENT ON COLUMN agentjournal.messages.turn_id IS 'the turn it was added in';
COMMENT ON COLUMN agentjournal.messages.role IS 'system, developer, user or assistant';
COMMENT ON COLUMN agentjournal.messages.content IS 'what it says as plain text';
COMMENT ON COLUMN agentjournal.messages.parts IS 'JSON: its parts, exactly';
COMMENT ON COLUMN agentjournal.messages.tokens IS 'as the client counted';
COMMENT ON COLUMN agentjournal.messages.status IS 'complete, incomplete or retracted';
COMMENT ON COLUMN agentjournal.messages.recorded_at IS 'broker''s time';
COMMENT ON COLUMN agentjournal.messages.model_call_id IS 'the call that it came from';

COMMENT ON VIEW agentjournal.tool_calls IS 'Tool calls: asked for by a model, run by a worker.';
COMMENT ON COLUMN agentjournal.tool_calls.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.tool_calls.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.tool_calls.version IS
    'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.tool_calls.turn_id IS 'the turn it belongs to';
COMMENT ON COLUMN agentjournal.tool_calls.call_id IS 'its id';
COMMENT ON COLUMN agentjournal.tool_calls.tool IS 'name of the tool';
COMMENT ON COLUMN agentjournal.tool_calls.arguments IS
    'JSON: the arguments, {"$unreadable": true} where they are no JSON';
COMMENT ON COLUMN agentjournal.tool_calls.arguments_text IS
    'the arguments, as the model wrote them';
COMMENT ON COLUMN agentjournal.tool_calls.effect IS 'read, idempotent or external';
COMMENT ON COLUMN agentjournal.tool_calls.outcome IS 'open, completed or failed';
COMMENT ON COLUMN agentjournal.tool_calls.attempt IS 'the newest; null before the first';
COMMENT ON COLUMN agentjournal.tool_calls.lease_until IS 'after it an open call is unknown';
COMMENT ON COLUMN agentjournal.tool_calls.started_at IS
    'when the newest attempt began, else when it was asked for';
COMMENT ON COLUMN agentjournal.tool_calls.ended_at IS 'broker''s time of the outcome';
COMMENT ON COLUMN agentjournal.tool_calls.duration_ms IS 'as the worker measured';
COMMENT ON COLUMN agentjournal.tool_calls.error_type IS
    'error, timeout, denied, cancelled or invalid_arguments';
COMMENT ON COLUMN agentjournal.tool_calls.error_message IS 'what went wrong';
COMMENT ON COLUMN agentjournal.tool_calls.output IS 'what the model sees, as plain text';
COMMENT ON COLUMN agentjournal.tool_calls.idempotency_key IS
    'the same for every attempt of an unknown outcome';
COMMENT ON COLUMN agentjournal.tool_calls.requested_at IS
    'broker''s time at which a model asked for it';

COMMENT ON VIEW agentjournal.model_calls IS 'Calls of language models.';
COMMENT ON COLUMN agentjournal.model_calls.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.model_calls.session_id IS 'the session';
COMMENT ON COLUMN agentjournal.model_calls.version IS 'version of the event';
COMMENT ON COLUMN agentjournal.model_calls.turn_id IS 'the turn it belongs to';
COMMENT ON COLUMN agentjournal.model_calls.model_call_id IS 'its id';
COMMENT ON COLUMN agentjournal.model_calls.provider IS 'who serves the model';
COMMENT ON COLUMN agentjournal.model_calls.request_model IS 'the model that was asked';
COMMENT ON COLUMN agentjournal.model_calls.response_model IS 'the model that answered';
COMMENT ON COLUMN agentjournal.model_calls.input_tokens IS 'cached ones included';
COMMENT ON COLUMN agentjournal.model_calls.output_tokens IS 'reasoning included';
COMMENT ON COLUMN agentjournal.model_calls.cost IS 'an exact amount';
COMMENT ON COLUMN agentjournal.model_calls.currency IS 'of the cost';
COMMENT ON COLUMN agentjournal.model_calls.duration_ms IS 'as the client measured';
COMMENT ON COLUMN agentjournal.model_calls.finish_reason IS 'why the model stopped';
COMMENT ON COLUMN agentjournal.model_calls.status IS 'completed, failed or cancelled';
COMMENT ON COLUMN agentjournal.model_calls.recorded_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.plans IS 'Plans of sessions and tasks.';
COMMENT ON COLUMN agentjournal.plans.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.plans.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.plans.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.plans.version IS 'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.plans.plan_id IS 'its id';
COMMENT ON COLUMN agentjournal.plans.goal IS 'what is to be reached';
COMMENT ON COLUMN agentjournal.plans.status IS
    'open, completed or abandoned; a plan that is revised after its end is open again';
COMMENT ON COLUMN agentjournal.plans.reason IS 'why it was abandoned';
COMMENT ON COLUMN agentjournal.plans.planned_version IS
    'version of the event that its steps are from';
COMMENT ON COLUMN agentjournal.plans.revisions IS 'how many there were';
COMMENT ON COLUMN agentjournal.plans.created_at IS 'broker''s time';
COMMENT ON COLUMN agentjournal.plans.revised_at IS 'broker''s time of the last revision';
COMMENT ON COLUMN agentjournal.plans.ended_version IS 'version of its end';
COMMENT ON COLUMN agentjournal.plans.ended_at IS 'broker''s time of its end';

COMMENT ON VIEW agentjournal.steps IS
    'Steps of plans: those of the last revision, and all that were begun, ended or skipped.';
COMMENT ON COLUMN agentjournal.steps.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.steps.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.steps.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.steps.version IS 'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.steps.plan_id IS 'the plan';
COMMENT ON COLUMN agentjournal.steps.step_id IS 'its id in the plan';
COMMENT ON COLUMN agentjournal.steps.title IS 'what is to be done';
COMMENT ON COLUMN agentjournal.steps.status IS 'open, completed, failed, skipped or rolled_back';
COMMENT ON COLUMN agentjournal.steps.attempt IS 'the newest in its group; null before the first';
COMMENT ON COLUMN agentjournal.steps.attempt_group IS 'a recorded failure begins the next';
COMMENT ON COLUMN agentjournal.steps.tool IS 'the tool that does it';
COMMENT ON COLUMN agentjournal.steps.effect IS 'read, idempotent or external';
COMMENT ON COLUMN agentjournal.steps.arguments IS 'JSON: of the tool';
COMMENT ON COLUMN agentjournal.steps.depends_on IS
    'JSON: list of the steps that must be completed before';
COMMENT ON COLUMN agentjournal.steps.retry IS 'JSON: when it is tried again';
COMMENT ON COLUMN agentjournal.steps.compensation IS 'JSON: what undoes it';
COMMENT ON COLUMN agentjournal.steps.planned_version IS 'version of the last event that plans it';
COMMENT ON COLUMN agentjournal.steps.planned_index IS 'its place in that plan, from 0';
COMMENT ON COLUMN agentjournal.steps.in_plan IS 'whether the last revision has it';
COMMENT ON COLUMN agentjournal.steps.idempotency_key IS
    'the same for every attempt of an unknown outcome';
COMMENT ON COLUMN agentjournal.steps.started_version IS 'version at which the newest attempt began';
COMMENT ON COLUMN agentjournal.steps.started_at IS 'broker''s time of that';
COMMENT ON COLUMN agentjournal.steps.lease_until IS 'after it an open step is unknown';
COMMENT ON COLUMN agentjournal.steps.ended_version IS 'version of the outcome';
COMMENT ON COLUMN agentjournal.steps.ended_at IS 'broker''s time of the outcome';
COMMENT ON COLUMN agentjournal.steps.result IS 'JSON: what came of it';
COMMENT ON COLUMN agentjournal.steps.error IS 'JSON: what went wrong';
COMMENT ON COLUMN agentjournal.steps.error_type IS 'class of the error';
COMMENT ON COLUMN agentjournal.steps.error_message IS 'what went wrong';
COMMENT ON COLUMN agentjournal.steps.retry_at IS 'when it should be tried again';
COMMENT ON COLUMN agentjournal.steps.settled_by IS
    'verifier, person or policy, where the outcome was unknown';
COMMENT ON COLUMN agentjournal.steps.skipped_version IS 'version at which it was skipped';
COMMENT ON COLUMN agentjournal.steps.skipped_at IS 'broker''s time of that';
COMMENT ON COLUMN agentjournal.steps.skip_reason IS 'why it is not needed';
COMMENT ON COLUMN agentjournal.steps.rolled_back_version IS 'version at which it was undone';
COMMENT ON COLUMN agentjournal.steps.rolled_back_at IS 'broker''s time of that';
COMMENT ON COLUMN agentjournal.steps.rolled_back_by IS 'the step that undid it';

COMMENT ON VIEW agentjournal.decisions IS 'Decisions: what was chosen, and why.';
COMMENT ON COLUMN agentjournal.decisions.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.decisions.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.decisions.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.decisions.version IS 'version of the event';
COMMENT ON COLUMN agentjournal.decisions.question IS 'what was to be decided';
COMMENT ON COLUMN agentjournal.decisions.choice IS 'JSON: what was chosen';
COMMENT ON COLUMN agentjournal.decisions.alternatives IS 'JSON: list of what else there was';
COMMENT ON COLUMN agentjournal.decisions.reason IS 'why';
COMMENT ON COLUMN agentjournal.decisions.decided_by IS 'the agent or person that chose';
COMMENT ON COLUMN agentjournal.decisions.decided_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.checkpoints IS
    'States that agents saved; the first under an id stands.';
COMMENT ON COLUMN agentjournal.checkpoints.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.checkpoints.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.checkpoints.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.checkpoints.version IS
    'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.checkpoints.checkpoint_id IS 'its id';
COMMENT ON COLUMN agentjournal.checkpoints.label IS 'a name for people';
COMMENT ON COLUMN agentjournal.checkpoints.state_schema_version IS 'of the state';
COMMENT ON COLUMN agentjournal.checkpoints.state IS 'JSON: the state, where the event holds it';
COMMENT ON COLUMN agentjournal.checkpoints.artifact IS 'where the state is, else';
COMMENT ON COLUMN agentjournal.checkpoints.saved_version IS 'version of the event that saved it';
COMMENT ON COLUMN agentjournal.checkpoints.saved_at IS 'broker''s time of that';
COMMENT ON COLUMN agentjournal.checkpoints.restores IS 'how often it was gone back to';
COMMENT ON COLUMN agentjournal.checkpoints.restored_version IS 'version of the last time';
COMMENT ON COLUMN agentjournal.checkpoints.restored_at IS 'broker''s time of the last time';

COMMENT ON VIEW agentjournal.notes IS
    'Working memory: the last note of each key, also a deleted one. What was noted before a '
    'session ended is not shown.';
COMMENT ON COLUMN agentjournal.notes.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.notes.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.notes.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.notes.version IS 'version of the event that the note is from';
COMMENT ON COLUMN agentjournal.notes.key IS 'its key';
COMMENT ON COLUMN agentjournal.notes.value IS 'JSON: its value; null when it was deleted';
COMMENT ON COLUMN agentjournal.notes.ttl_s IS 'seconds after which it is forgotten';
COMMENT ON COLUMN agentjournal.notes.expires_at IS 'when that is; null for never';
COMMENT ON COLUMN agentjournal.notes.deleted IS 'whether it was deleted';
COMMENT ON COLUMN agentjournal.notes.recorded_at IS 'broker''s time of the event';

COMMENT ON VIEW agentjournal.handoffs IS
    'Work that was handed to other agents; the first request and the first end under an id stand.';
COMMENT ON COLUMN agentjournal.handoffs.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.handoffs.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.handoffs.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.handoffs.version IS
    'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.handoffs.handoff_id IS 'its id';
COMMENT ON COLUMN agentjournal.handoffs.status IS 'open, accepted, completed or failed';
COMMENT ON COLUMN agentjournal.handoffs.mode IS
    'delegate (a session of its own) or transfer (the same conversation)';
COMMENT ON COLUMN agentjournal.handoffs.to_agent IS 'who is asked';
COMMENT ON COLUMN agentjournal.handoffs.child_session_id IS 'the session of a delegate';
COMMENT ON COLUMN agentjournal.handoffs.task IS 'what is to be done';
COMMENT ON COLUMN agentjournal.handoffs.context IS
    'JSON: list of what the other agent needs to know';
COMMENT ON COLUMN agentjournal.handoffs.constraints IS 'JSON: what it may use';
COMMENT ON COLUMN agentjournal.handoffs.requested_version IS 'version of the request';
COMMENT ON COLUMN agentjournal.handoffs.requested_at IS 'broker''s time of the request';
COMMENT ON COLUMN agentjournal.handoffs.accepted_version IS
    'version at which the other agent began';
COMMENT ON COLUMN agentjournal.handoffs.accepted_at IS 'broker''s time of that';
COMMENT ON COLUMN agentjournal.handoffs.ended_version IS 'version of the result';
COMMENT ON COLUMN agentjournal.handoffs.ended_at IS 'broker''s time of the result';
COMMENT ON COLUMN agentjournal.handoffs.summary IS 'the result in words';
COMMENT ON COLUMN agentjournal.handoffs.result IS 'JSON: the structured result';
COMMENT ON COLUMN agentjournal.handoffs.usage IS 'JSON: what was used';
COMMENT ON COLUMN agentjournal.handoffs.error_type IS 'class of the error';
COMMENT ON COLUMN agentjournal.handoffs.error_message IS 'what went wrong';

COMMENT ON VIEW agentjournal.approvals IS
    'What somebody was asked to allow; the first answer under an id stands.';
COMMENT ON COLUMN agentjournal.approvals.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.approvals.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.approvals.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.approvals.version IS
    'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.approvals.approval_id IS 'its id';
COMMENT ON COLUMN agentjournal.approvals.status IS 'open, granted, denied or expired';
COMMENT ON COLUMN agentjournal.approvals.question IS 'what is asked';
COMMENT ON COLUMN agentjournal.approvals.call_id IS 'the tool call that waits for it';
COMMENT ON COLUMN agentjournal.approvals.arguments_digest IS
    'a grant holds for these arguments only';
COMMENT ON COLUMN agentjournal.approvals.choices IS 'JSON: list of possible answers';
COMMENT ON COLUMN agentjournal.approvals.requested_of IS 'who should answer';
COMMENT ON COLUMN agentjournal.approvals.requested_version IS 'version of the request';
COMMENT ON COLUMN agentjournal.approvals.requested_at IS 'broker''s time of the request';
COMMENT ON COLUMN agentjournal.approvals.expires_at IS 'until when an answer counts';
COMMENT ON COLUMN agentjournal.approvals.answered_version IS 'version of the answer';
COMMENT ON COLUMN agentjournal.approvals.answered_at IS 'broker''s time of the answer';
COMMENT ON COLUMN agentjournal.approvals.answered_by IS 'who answered';
COMMENT ON COLUMN agentjournal.approvals.comment IS 'what was said with the answer';
COMMENT ON COLUMN agentjournal.approvals.edited_arguments_text IS
    'the arguments that are allowed in place of those asked about';

COMMENT ON VIEW agentjournal.inputs IS
    'What people were asked for; the first answer under an id stands.';
COMMENT ON COLUMN agentjournal.inputs.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.inputs.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.inputs.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.inputs.version IS 'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.inputs.input_id IS 'its id';
COMMENT ON COLUMN agentjournal.inputs.status IS 'open or provided';
COMMENT ON COLUMN agentjournal.inputs.question IS 'what is asked';
COMMENT ON COLUMN agentjournal.inputs.schema IS 'JSON: the JSON schema of an answer';
COMMENT ON COLUMN agentjournal.inputs.requested_version IS 'version of the request';
COMMENT ON COLUMN agentjournal.inputs.requested_at IS 'broker''s time of the request';
COMMENT ON COLUMN agentjournal.inputs.answered_version IS 'version of the answer';
COMMENT ON COLUMN agentjournal.inputs.answered_at IS 'broker''s time of the answer';
COMMENT ON COLUMN agentjournal.inputs.answered_by IS 'who answered';
COMMENT ON COLUMN agentjournal.inputs.value IS 'JSON: the answer';

COMMENT ON VIEW agentjournal.leases IS
    'Leases under which workers write. Whether one is over depends on the time, and on whether '
    'another was taken since.';
COMMENT ON COLUMN agentjournal.leases.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.leases.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.leases.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.leases.version IS 'version of the event that the row began with';
COMMENT ON COLUMN agentjournal.leases.fence IS 'its number: a higher one is newer';
COMMENT ON COLUMN agentjournal.leases.holder IS 'the worker';
COMMENT ON COLUMN agentjournal.leases.lease_s IS 'how long, in seconds';
COMMENT ON COLUMN agentjournal.leases.acquired_at IS 'broker''s time';
COMMENT ON COLUMN agentjournal.leases.renewals IS 'how often it was renewed by an event of its own';
COMMENT ON COLUMN agentjournal.leases.renewed_at IS 'broker''s time of the last renewal';
COMMENT ON COLUMN agentjournal.leases.lease_until IS
    'when it passes, unless appends under it extend it; null for never';
COMMENT ON COLUMN agentjournal.leases.released_version IS 'version at which it was given back';
COMMENT ON COLUMN agentjournal.leases.released_at IS 'broker''s time of that';

COMMENT ON VIEW agentjournal.file_changes IS 'Every change of a file.';
COMMENT ON COLUMN agentjournal.file_changes.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.file_changes.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.file_changes.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.file_changes.version IS 'version of the event';
COMMENT ON COLUMN agentjournal.file_changes.path IS 'the file; exact in events';
COMMENT ON COLUMN agentjournal.file_changes.reason IS 'create, edit, delete or revert';
COMMENT ON COLUMN agentjournal.file_changes.before_digest IS 'of the content before';
COMMENT ON COLUMN agentjournal.file_changes.after_digest IS 'of the content afterwards';
COMMENT ON COLUMN agentjournal.file_changes.artifact IS 'the content afterwards';
COMMENT ON COLUMN agentjournal.file_changes.diff IS 'what changed';
COMMENT ON COLUMN agentjournal.file_changes.call_id IS 'the tool call that did it';
COMMENT ON COLUMN agentjournal.file_changes.changed_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.files IS 'Files as their last change left them.';
COMMENT ON COLUMN agentjournal.files.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.files.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.files.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.files.version IS 'version of the last change';
COMMENT ON COLUMN agentjournal.files.path IS 'the file; exact in events';
COMMENT ON COLUMN agentjournal.files.reason IS 'create, edit, delete or revert';
COMMENT ON COLUMN agentjournal.files.digest IS 'of its content';
COMMENT ON COLUMN agentjournal.files.artifact IS 'its content';
COMMENT ON COLUMN agentjournal.files.deleted IS 'whether it is gone';
COMMENT ON COLUMN agentjournal.files.changes IS 'how many there were';
COMMENT ON COLUMN agentjournal.files.changed_at IS 'broker''s time of the last change';

COMMENT ON VIEW agentjournal.artifacts IS 'What was put into the artifact store, a row each time.';
COMMENT ON COLUMN agentjournal.artifacts.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.artifacts.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.artifacts.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.artifacts.version IS 'version of the event';
COMMENT ON COLUMN agentjournal.artifacts.artifact IS 'its reference in the store';
COMMENT ON COLUMN agentjournal.artifacts.name IS 'its name';
COMMENT ON COLUMN agentjournal.artifacts.media_type IS 'its kind';
COMMENT ON COLUMN agentjournal.artifacts.size IS 'bytes';
COMMENT ON COLUMN agentjournal.artifacts.digest IS 'of its content';
COMMENT ON COLUMN agentjournal.artifacts.call_id IS 'the tool call that made it';
COMMENT ON COLUMN agentjournal.artifacts.saved_at IS 'broker''s time';

COMMENT ON VIEW agentjournal.processes IS 'Processes that outlive a tool call.';
COMMENT ON COLUMN agentjournal.processes.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.processes.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.processes.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.processes.version IS
    'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.processes.process_id IS 'its id';
COMMENT ON COLUMN agentjournal.processes.status IS 'running or ended, as far as events say';
COMMENT ON COLUMN agentjournal.processes.command IS 'how it was started';
COMMENT ON COLUMN agentjournal.processes.cwd IS 'where';
COMMENT ON COLUMN agentjournal.processes.ports IS 'JSON: list of ports it listens on';
COMMENT ON COLUMN agentjournal.processes.environment_names IS 'JSON: names of its variables';
COMMENT ON COLUMN agentjournal.processes.started_version IS 'version of its start';
COMMENT ON COLUMN agentjournal.processes.started_at IS 'broker''s time of its start';
COMMENT ON COLUMN agentjournal.processes.ended_version IS 'version of its end';
COMMENT ON COLUMN agentjournal.processes.ended_at IS 'broker''s time of its end';
COMMENT ON COLUMN agentjournal.processes.exit_status IS 'null where it is not known';

COMMENT ON VIEW agentjournal.snapshots IS
    'Copies of the environment; the first under an id stands.';
COMMENT ON COLUMN agentjournal.snapshots.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.snapshots.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.snapshots.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.snapshots.version IS
    'version of the event that it was first named in';
COMMENT ON COLUMN agentjournal.snapshots.snapshot_id IS 'its id';
COMMENT ON COLUMN agentjournal.snapshots.kind IS 'files, process or provider';
COMMENT ON COLUMN agentjournal.snapshots.artifact IS 'where it is in the artifact store';
COMMENT ON COLUMN agentjournal.snapshots.reference IS 'where the provider keeps it';
COMMENT ON COLUMN agentjournal.snapshots.size IS 'bytes';
COMMENT ON COLUMN agentjournal.snapshots.taken_version IS 'version of the event that took it';
COMMENT ON COLUMN agentjournal.snapshots.taken_at IS 'broker''s time of that';
COMMENT ON COLUMN agentjournal.snapshots.restores IS 'how often it was gone back to';
COMMENT ON COLUMN agentjournal.snapshots.restored_version IS 'version of the last time';
COMMENT ON COLUMN agentjournal.snapshots.restored_at IS 'broker''s time of the last time';

COMMENT ON VIEW agentjournal.environment IS
    'What surrounds an agent: a row a name, as it was changed last.';
COMMENT ON COLUMN agentjournal.environment.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.environment.session_id IS 'the session; null on a task';
COMMENT ON COLUMN agentjournal.environment.task_id IS 'the task; null on a session';
COMMENT ON COLUMN agentjournal.environment.version IS 'version of the last change';
COMMENT ON COLUMN agentjournal.environment.kind IS 'cwd, branch, commit, variable or package';
COMMENT ON COLUMN agentjournal.environment.name IS 'of a variable or a package';
COMMENT ON COLUMN agentjournal.environment.value IS
    'of a variable its digest, or the value where that is allowed; of a package its version';
COMMENT ON COLUMN agentjournal.environment.is_set IS 'false for a variable that was unset';
COMMENT ON COLUMN agentjournal.environment.changed_at IS 'broker''s time of the last change';

COMMENT ON VIEW agentjournal.events IS
    'Every event of every stream, with the exact bytes of its data.';
COMMENT ON COLUMN agentjournal.events.stream IS 'kind, tenant and id, percent-encoded';
COMMENT ON COLUMN agentjournal.events.version IS 'index in its stream, from 1';
COMMENT ON COLUMN agentjournal.events.position IS 'offset in the partition of the log';
COMMENT ON COLUMN agentjournal.events.partition IS 'of the log';
COMMENT ON COLUMN agentjournal.events.type IS 'like message.added';
COMMENT ON COLUMN agentjournal.events.data IS
    'JSON: what the event says; what Postgres cannot hold is replaced';
COMMENT ON COLUMN agentjournal.events.actor IS 'the worker, agent or source that wrote it';
COMMENT ON COLUMN agentjournal.events.correlation_id IS 'what it belongs to';
COMMENT ON COLUMN agentjournal.events.causation_id IS 'what it follows from';
COMMENT ON COLUMN agentjournal.events.recorded_at IS 'broker''s time';
COMMENT ON COLUMN agentjournal.events.append_id IS 'of the append that it came in';
COMMENT ON COLUMN agentjournal.events.sanitised IS 'whether data was replaced in part';
COMMENT ON COLUMN agentjournal.events.tenant IS 'whose data it is';
COMMENT ON COLUMN agentjournal.events.session_id IS 'the session; null on other streams';
COMMENT ON COLUMN agentjournal.events.event_id IS 'its id';
COMMENT ON COLUMN agentjournal.events.schema_version IS 'of its type';
COMMENT ON COLUMN agentjournal.events.input_position IS 'offset of the request that it came in';
COMMENT ON COLUMN agentjournal.events.batch_index IS 'its place in the append, from 0';
COMMENT ON COLUMN agentjournal.events.batch_size IS 'events of the append';
COMMENT ON COLUMN agentjournal.events.source IS 'tenant and agent';
COMMENT ON COLUMN agentjournal.events.agent IS 'the program';
COMMENT ON COLUMN agentjournal.events.worker IS 'its process';
COMMENT ON COLUMN agentjournal.events.time IS 'the client''s clock: information, never order';
COMMENT ON COLUMN agentjournal.events.tokens IS 'as the client counted';
COMMENT ON COLUMN agentjournal.events.traceparent IS 'W3C trace context';
COMMENT ON COLUMN agentjournal.events.hash IS 'of the record, hexadecimal';
COMMENT ON COLUMN agentjournal.events.raw_data IS 'the exact bytes of data';

COMMENT ON VIEW agentjournal.streams IS 'How far each stream is.';
COMMENT ON COLUMN agentjournal.streams.stream IS 'kind, tenant and id, percent-encoded';
COMMENT ON COLUMN agentjournal.streams.partition IS 'of the log';
COMMENT ON COLUMN agentjournal.streams.version IS 'of its last event';
COMMENT ON COLUMN agentjournal.streams.head_hash IS 'hash of its last event, hexadecimal';

COMMENT ON VIEW agentjournal.projection_status IS 'How far each projection is in each partition.';
COMMENT ON COLUMN agentjournal.projection_status.projection IS 'its name';
COMMENT ON COLUMN agentjournal.projection_status.generation IS
    'its number: a rebuild gets the next';
COMMENT ON COLUMN agentjournal.projection_status.partition IS 'of the log';
COMMENT ON COLUMN agentjournal.projection_status.next_position IS 'next offset to read';
COMMENT ON COLUMN agentjournal.projection_status.input_position IS
    'with batch_index: the last event that was applied';
COMMENT ON COLUMN agentjournal.projection_status.batch_index IS
    'with input_position: the last event that was applied';
COMMENT ON COLUMN agentjournal.projection_status.parked IS 'streams that it stopped at';

COMMENT ON VIEW agentjournal.parked IS 'Streams that a projection stopped at.';
COMMENT ON COLUMN agentjournal.parked.projection IS 'its name';
COMMENT ON COLUMN agentjournal.parked.generation IS 'its number';
COMMENT ON COLUMN agentjournal.parked.stream IS 'the stream';
COMMENT ON COLUMN agentjournal.parked.partition IS 'of the log';
COMMENT ON COLUMN agentjournal.parked.version IS 'the first event that could not be applied';
COMMENT ON COLUMN agentjournal.parked.error IS 'why';

COMMENT ON FUNCTION agentjournal.live_notes(timestamptz) IS
    'Notes that hold at a moment: neither deleted nor expired.';
COMMENT ON FUNCTION agentjournal.unknown_calls(timestamptz) IS
    'Tool calls that are open though their lease has passed: whether they happened must be '
    'found out.';
COMMENT ON FUNCTION agentjournal.unknown_steps(timestamptz) IS
    'Steps that are open though their lease has passed: whether they happened must be found out.';
