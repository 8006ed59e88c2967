CREATE TABLE t(data cstring(20))$$
CREATE PROCEDURE batch VERSION 'sample' {
local function consume_a_txn(consumer)
        local event0 = consumer:get()
        -- missing error handling here
        local txn0 = db:get_event_tid(event0)
        while true do
                local event = consumer:poll(0)
                -- If there are no more events, or we are at a transaction boundary:
                -- return so we consume everything we have seen so far.
                if event == nil then return end
                if db:get_event_tid(event) ~= txn0 then return end
                -- Otherwise, emit this event and move to next event
                db:emit(event.new.data) -- Does not wait for client to ack
                consumer:next()
        end
end
local function main()
        local consumer = db:consumer()
        while true do
                db:begin()
                consume_a_txn(consumer)
                consumer:emit('--sentinal--') -- Wait here for client to ack
                db:commit() -- consume all events emitted so far
        end
end
}$$
CREATE LUA CONSUMER batch ON (TABLE t FOR INSERT)
insert into t(data) values('first')
insert into t(data) values('second'),('third')
begin
insert into t(data) values('fourth')
insert into t(data) values('fifth')
commit
insert into t(data) select printf('row %d', value) from generate_series(6, 10)
