-- The procedure of a consumer that was made with CREATE DEFAULT LUA CONSUMER: emits what happens.
-- `text` is a JSON object with options.
local kinds = {
    with_id = 'boolean', with_tid = 'boolean', with_sequence = 'boolean', with_epoch = 'boolean',
    batch_consume = 'boolean', with_txn_sentinel = 'boolean',
    consume_count = 'number', register_timeout = 'number', poll_timeout = 'number', emit_timeout = 'number',
}

local function read_options(text)
    local options = {}
    if text ~= nil then
        local given, rc = db:json_to_table(text)
        if rc ~= 0 or type(given) ~= 'table' then
            return nil, 'options: expected a JSON object'
        end
        for name, value in pairs(given) do
            if kinds[name] == nil then return nil, "invalid option '" .. tostring(name) .. "'" end
            if type(value) ~= kinds[name] and not (kinds[name] == 'number' and tonumber(value)) then
                return nil, "option '" .. name .. "': expected a " .. kinds[name]
            end
            options[name] = value
        end
    end
    if options.with_id == nil then options.with_id = true end
    return options
end

-- comdb2_event, what the options ask for, then the columns of the table; of a collection the key
-- of the document and the document.
local function define_columns(options)
    local columns = {{name = 'comdb2_event', type = 'cstring'}}
    local function add(name, kind) columns[#columns + 1] = {name = name, type = kind} end
    if options.with_id then add('comdb2_id', 'blob') end
    if options.with_tid then add('comdb2_tid', 'int') end
    if options.with_sequence then add('comdb2_sequence', 'int') end
    if options.with_epoch then add('comdb2_epoch', 'int') end
    local wanted = {}
    local documents = false
    local statement = db:prepare('SELECT tbl_name, col FROM comdb2_triggers WHERE name = $name')
    statement:bind('name', db:spname())
    local tablename
    for row in statement:rows() do
        tablename = row.tbl_name
        if db:isnull(row.col) then documents = true else wanted[tostring(row.col)] = true end
    end
    statement = db:prepare('SELECT columnname, type FROM comdb2_columns WHERE tablename = $t')
    statement:bind('t', tablename)
    for column in statement:rows() do
        local name = tostring(column.columnname)
        if wanted[name] then add(name, tostring(column.type)) end
        wanted[name] = nil
    end
    -- Fields of documents, and columns that the table had when the consumer was made.
    for name in pairs(wanted) do add(name, nil) end
    if documents then
        add('key', nil)
        add('document', nil)
    end
    db:num_columns(#columns)
    for i, column in ipairs(columns) do
        db:column_name(column.name, i)
        if column.type ~= nil then db:column_type(column.type, i) end
    end
    return documents
end

local function register(options)
    while true do
        local consumer = db:consumer({
            register_timeout = options.register_timeout,
            with_tid = options.with_tid or options.batch_consume or false,
            with_sequence = options.with_sequence or false,
            with_epoch = options.with_epoch or false,
        })
        if consumer ~= nil then
            consumer:emit_timeout(options.emit_timeout or 10000)
            return consumer
        end
        db:emit({comdb2_event = 'register_timeout'})
    end
end

local function main(text)
    local options, problem = read_options(text)
    if options == nil then return problem end
    local documents = define_columns(options)
    local consumer = register(options)
    -- From here on events become rows, and are consumed as the client acknowledges them: a row
    -- each, or two of an update; with batch_consume all of a transaction at once.
    return consumer:forward({
        batch = options.batch_consume or false,
        documents = documents,
        sentinel = options.with_txn_sentinel or false,
        count = options.consume_count,
        poll_timeout = options.poll_timeout,
    })
end
